/* An adapter without a data path: what is posted stays where it is. */
#include "hca.h"

int hca_data_start(struct hca *hca)
{
	(void)hca;
	return 0;
}

void hca_data_reset_qp(struct hca *hca, struct hca_qp *qp)
{
	(void)hca;
	(void)qp;
}

void hca_data_forget_qp(struct hca *hca, struct hca_qp *qp)
{
	(void)hca;
	(void)qp;
}

void hca_data_forget_cq(struct hca *hca, struct hca_cq *cq)
{
	(void)hca;
	(void)cq;
}

void hca_data_forget_srq(struct hca *hca, struct hca_srq *srq)
{
	(void)hca;
	(void)srq;
}

void hca_data_modified_qp(struct hca *hca, struct hca_qp *qp, enum ibv_qp_state from)
{
	(void)hca;
	(void)qp;
	(void)from;
}
