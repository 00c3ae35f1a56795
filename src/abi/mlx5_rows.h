/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mlx5: queues and doorbell records are in the program's memory, and commands name a UAR page by
 * the number that its allocation answered (rdma/mlx5-abi.h, rdma/mlx5_user_ioctl_cmds.h).
 *
 * The provider computes uidx, WQE counts and flags, which must be equal; access_key shares its
 * place with sq_buf_addr, which only raw packet queue pairs use.
 */
#define MLX5(object, method, class, name, ...)                                                     \
	DRIVER(MLX5, MLX5_IB_OBJECT_##object, MLX5_IB_METHOD_##method, WV_NO_WRITE_CMD, class,     \
	       name, __VA_ARGS__)
#define MLX5_ATTR(id, kind) DRIVER_ATTR(MLX5_IB_ATTR_##id, kind)
#define MLX5_CREATE(what, ...)                                                                     \
	DRIVER(MLX5, UVERBS_OBJECT_##what, UVERBS_METHOD_##what##_CREATE, WV_NO_WRITE_CMD, CREATE, \
	       #what "_CREATE", what##_CREATE_ATTRS, ATTR(UHW_OUT, OUT),                           \
	       {UVERBS_ATTR_UHW_IN, WV_EQUAL, FIELDS(__VA_ARGS__)})

MLX5_CREATE(CQ, FIELD(mlx5_ib_create_cq, buf_addr, WV_BUFFER),
	    FIELD(mlx5_ib_create_cq, db_addr, WV_DOORBELL),
	    FIELD(mlx5_ib_create_cq, uar_page_index, WV_NUMBER)),
    MLX5_CREATE(QP, FIELD(mlx5_ib_create_qp, buf_addr, WV_BUFFER),
		FIELD(mlx5_ib_create_qp, db_addr, WV_DOORBELL),
		FIELD(mlx5_ib_create_qp, bfreg_index, WV_NUMBER)),
    MLX5_CREATE(SRQ, FIELD(mlx5_ib_create_srq, buf_addr, WV_BUFFER),
		FIELD(mlx5_ib_create_srq, db_addr, WV_DOORBELL)),

    /* Never done ahead, but the memory that they name may be the lease's. */
    DRIVER(MLX5, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, WV_NO_WRITE_CMD, PASS, "WQ_CREATE",
	   ATTR(CREATE_WQ_HANDLE, NEW_HANDLE), ATTR(UHW_OUT, OUT),
	   {UVERBS_ATTR_UHW_IN, WV_EQUAL,
	    FIELDS(FIELD(mlx5_ib_create_wq, buf_addr, WV_BUFFER),
		   FIELD(mlx5_ib_create_wq, db_addr, WV_DOORBELL))}),
    ROW(RDMA_DRIVER_MLX5, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, WRITE(RESIZE_CQ),
	UVERBS_OBJECT_CQ, PASS, "resize_cq",
	{UVERBS_ATTR_CORE_IN, WV_EQUAL, FIELDS(RESPONSE(ib_uverbs_resize_cq))}, ATTR(CORE_OUT, OUT),
	ATTR(WRITE_CMD, EQUAL),
	{UVERBS_ATTR_UHW_IN, WV_EQUAL, FIELDS(FIELD(mlx5_ib_resize_cq, buf_addr, WV_BUFFER))},
	ATTR(UHW_OUT, OUT)),

    DRIVER(MLX5, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, WV_NO_WRITE_CMD, PASS,
	   "mlx5 query_port", MLX5_ATTR(QUERY_PORT_PORT_NUM, EQUAL), MLX5_ATTR(QUERY_PORT, OUT)),
    /* Older headers lack its names. */
    DRIVER(MLX5, UVERBS_OBJECT_DEVICE, WV_MLX5_METHOD_GET_DATA_DIRECT_SYSFS_PATH, WV_NO_WRITE_CMD,
	   PASS, "mlx5 data_direct", {WV_MLX5_ATTR_GET_DATA_DIRECT_SYSFS_PATH, WV_OUT, NO_FIELDS}),
    DRIVER(MLX5, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, WV_NO_WRITE_CMD, PASS, "mlx5 pd_query",
	   MLX5_ATTR(QUERY_PD_HANDLE, HANDLE), MLX5_ATTR(QUERY_PD_RESP_PDN, OUT)),
    DRIVER(MLX5, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW, WV_NO_WRITE_CMD, PRIVILEGED,
	   "mlx5 create_flow", MLX5_ATTR(CREATE_FLOW_HANDLE, NEW_HANDLE)),

    /*
     * The firmware commands that any program may send this way are queries (hw/mlx5/devx.c,
     * devx_is_general_cmd()). The answer to one of them does not change.
     */
    DRIVER(MLX5, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, MLX5_QUERY_HCA_CAP, CONSTANT,
	   "query_hca_cap", MLX5_ATTR(DEVX_OTHER_CMD_IN, EQUAL),
	   MLX5_ATTR(DEVX_OTHER_CMD_OUT, OUT)),
    MLX5(DEVX, DEVX_OTHER, PASS, "devx_other", MLX5_ATTR(DEVX_OTHER_CMD_IN, EQUAL),
	 MLX5_ATTR(DEVX_OTHER_CMD_OUT, OUT)),
    MLX5(DEVX, DEVX_QUERY_UAR, PASS, "devx_query_uar", MLX5_ATTR(DEVX_QUERY_UAR_USER_IDX, EQUAL),
	 MLX5_ATTR(DEVX_QUERY_UAR_DEV_IDX, OUT)),
    MLX5(DEVX, DEVX_QUERY_EQN, PASS, "devx_query_eqn", MLX5_ATTR(DEVX_QUERY_EQN_USER_VEC, EQUAL),
	 MLX5_ATTR(DEVX_QUERY_EQN_DEV_EQN, OUT)),
    MLX5(DEVX_OBJ, DEVX_OBJ_CREATE, PRIVILEGED, "devx_obj_create",
	 MLX5_ATTR(DEVX_OBJ_CREATE_HANDLE, NEW_HANDLE)),
    MLX5(FLOW_MATCHER, FLOW_MATCHER_CREATE, PRIVILEGED, "flow_matcher_create",
	 MLX5_ATTR(FLOW_MATCHER_CREATE_HANDLE, NEW_HANDLE)),
    MLX5(UAR, UAR_OBJ_ALLOC, CREATE, "uar_obj_alloc", MLX5_ATTR(UAR_OBJ_ALLOC_HANDLE, NEW_HANDLE),
	 MLX5_ATTR(UAR_OBJ_ALLOC_TYPE, EQUAL), MLX5_ATTR(UAR_OBJ_ALLOC_MMAP_OFFSET, OUT),
	 MLX5_ATTR(UAR_OBJ_ALLOC_MMAP_LENGTH, OUT),
	 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, WV_OUT, FIELDS({0, 4, WV_NEW_NUMBER})}),
    MLX5(UAR, UAR_OBJ_DESTROY, DESTROY, "uar_obj_destroy",
	 MLX5_ATTR(UAR_OBJ_DESTROY_HANDLE, HANDLE)),
    MLX5(STEERING_ANCHOR, STEERING_ANCHOR_CREATE, PRIVILEGED, "steering_anchor",
	 MLX5_ATTR(STEERING_ANCHOR_CREATE_HANDLE, NEW_HANDLE)),
