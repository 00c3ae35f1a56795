/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw: queues are the kernel's, mapped by keys in the answers (rdma/siw-abi.h), and no request
 * carries anything private. So the core's rows describe it, but for queue pairs. When its network
 * device goes down, the driver moves all of a device's queue pairs to ERROR for good, and no query
 * shows that (sw/siw/siw_main.c, siw_netdev_down()). One that was made before would be of no use,
 * so none is made ahead.
 */
DRIVER(SIW, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, WV_NO_WRITE_CMD, PASS, "QP_CREATE",
       QP_CREATE_ATTRS, UHW),
