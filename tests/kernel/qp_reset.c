/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair can move to INIT, RESET and INIT, and from INIT to INIT. rxe keeps the access flags
 * and the port of INIT through RESET; a program that never asked for INIT must not see these.
 */
#include "kernel.h"

int main(void)
{
	int ufile = open_context();
	struct ib_uverbs_query_qp_resp answer;
	uint32_t pd, cq, qp;

	EXPECT(alloc_pd(ufile, &pd) == 0);
	EXPECT(create_cq(ufile, 1, &cq, NULL) == 0);
	EXPECT(create_qp(ufile, pd, cq, &qp) == 0);
	EXPECT(query_qp(ufile, qp, &answer) == 0);
	EXPECT(answer.qp_state == RESET && !answer.qp_access_flags && !answer.port_num);
	EXPECT(modify_qp(ufile, qp, INIT, 7) == 0);
	EXPECT(modify_qp(ufile, qp, INIT, 1) == 0);
	EXPECT(query_qp(ufile, qp, &answer) == 0);
	EXPECT(answer.qp_state == INIT && answer.qp_access_flags == 1 && answer.port_num == 1);
	EXPECT(modify_qp(ufile, qp, RESET, 0) == 0);
	EXPECT(query_qp(ufile, qp, &answer) == 0);
	EXPECT(answer.qp_state == RESET);
	EXPECT(modify_qp(ufile, qp, INIT, 7) == 0);
	EXPECT(query_qp(ufile, qp, &answer) == 0);
	EXPECT(answer.qp_state == INIT && answer.qp_access_flags == 7);
	return 0;
}
