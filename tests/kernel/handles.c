/* SPDX-License-Identifier: BSD-2-Clause */
/* A handle is the lowest free number of its ufile, whatever the kind of object. */
#include "kernel.h"

int main(void)
{
	int one = open_context(), other = open_context();
	uint32_t pd[3], cq, qp, again;

	for (uint32_t i = 0; i < 3; i++)
		EXPECT(alloc_pd(one, &pd[i]) == 0 && pd[i] == i);
	EXPECT(create_cq(one, 1, &cq, NULL) == 0 && cq == 3);
	EXPECT(create_qp(one, pd[0], cq, &qp) == 0 && qp == 4);
	EXPECT(alloc_pd(other, &again) == 0 && again == 0);
	EXPECT(dealloc_pd(one, pd[1]) == 0);
	EXPECT(destroy_qp(one, qp) == 0);
	EXPECT(create_qp(one, pd[0], cq, &qp) == 0 && qp == 1);
	EXPECT(alloc_pd(one, &again) == 0 && again == 4);
	EXPECT(dealloc_pd(one, pd[0]) == EBUSY);
	return 0;
}
