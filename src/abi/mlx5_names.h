/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values in mlx5's private part of a creation.
 */
#define MLX5(object, type, field, format)                                                          \
	VALUE(RDMA_DRIVER_MLX5, object, object##_CREATE, WV_NO_WRITE_CMD, UHW_IN, format,          \
	      mlx5_ib_create_##type, field)

MLX5(CQ, cq, buf_addr, HIDDEN), MLX5(CQ, cq, db_addr, HIDDEN), MLX5(CQ, cq, cqe_size, HIDDEN),
    MLX5(CQ, cq, flags, HIDDEN), MLX5(CQ, cq, uar_page_index, HIDDEN),
    MLX5(SRQ, srq, buf_addr, HIDDEN), MLX5(SRQ, srq, db_addr, HIDDEN),
    MLX5(SRQ, srq, flags, HIDDEN), MLX5(QP, qp, buf_addr, HIDDEN), MLX5(QP, qp, db_addr, HIDDEN),
    MLX5(QP, qp, sq_wqe_count, HIDDEN), MLX5(QP, qp, rq_wqe_count, HIDDEN),
    MLX5(QP, qp, rq_wqe_shift, HIDDEN), MLX5(QP, qp, flags, HEX), MLX5(QP, qp, uidx, HIDDEN),
    MLX5(QP, qp, bfreg_index, HIDDEN), MLX5(QP, qp, access_key, HIDDEN),
