/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define MAX_ATTRS   12
#define MAX_DRIVERS 64
#define PATIENCE_MS 5000

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static uint32_t driver_id = RDMA_DRIVER_UNKNOWN;

void skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(77);
}

const char *node_path(void)
{
	static char path[64];
	glob_t found = {0};

	if (glob("/dev/infiniband/uverbs*", 0, NULL, &found))
		skip("there is no RDMA device");
	snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

const char *device_name(void)
{
	static char name[64];
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/%s/ibdev",
		 strrchr(node_path(), '/') + 1);
	file = fopen(path, "r");
	EXPECT(file && fscanf(file, "%63s", name) == 1);
	fclose(file);
	return name;
}

int open_node(void)
{
	int fd = open(node_path(), O_RDWR | O_CLOEXEC);

	if (fd < 0)
		skip("%s cannot be opened: %s", node_path(), strerror(errno));
	return fd;
}

void need_rxe(void)
{
	if (driver_id != RDMA_DRIVER_RXE)
		skip("%s is not soft-RoCE", device_name());
}

static struct command command(uint16_t object, uint16_t method)
{
	return (struct command){.hdr = {.object_id = object, .method_id = method}};
}

static struct ib_uverbs_attr *add(struct command *c, uint16_t id, size_t len, uint64_t data)
{
	struct ib_uverbs_attr *attr = &c->attrs[c->hdr.num_attrs++];

	*attr = (struct ib_uverbs_attr){
	    .attr_id = id, .len = (uint16_t)len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
	return attr;
}

/* Inputs of up to eight bytes travel inside the attribute. */
static void add_in(struct command *c, uint16_t id, const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = add(c, id, len, (uintptr_t)data);

	if (len > sizeof(attr->data))
		return;
	attr->data = 0;
	memcpy(&attr->data, data, len);
}

static void add_out(struct command *c, uint16_t id, void *data, size_t len)
{
	add(c, id, len, (uintptr_t)data);
}

static int issue(int ufile, struct command *c)
{
	c->hdr.driver_id = driver_id;
	c->hdr.length = (uint16_t)(sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attrs[0]));
	return ioctl(ufile, RDMA_VERBS_IOCTL, c) < 0 ? errno : 0;
}

static int try_context(int ufile)
{
	uint32_t vectors;
	uint64_t support;
	struct command c = command(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);

	add_out(&c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	add_out(&c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support, sizeof(support));
	return issue(ufile, &c);
}

/* The kernel does not tell its driver; it refuses the ids of other drivers. */
int get_context(int ufile)
{
	int err = EINVAL;

	if (driver_id != RDMA_DRIVER_UNKNOWN)
		return try_context(ufile);
	while (err == EINVAL && ++driver_id < MAX_DRIVERS)
		err = try_context(ufile);
	return err;
}

int open_context(void)
{
	int ufile = open_node();
	int err = get_context(ufile);

	if (err)
		skip("the kernel gives no context by ioctl: %s", strerror(err));
	return ufile;
}

int invoke_write(int ufile, uint32_t write_cmd, const void *in, size_t in_bytes, void *out,
		 size_t out_bytes)
{
	uint64_t number = write_cmd;
	struct command c = command(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

	add_in(&c, UVERBS_ATTR_WRITE_CMD, &number, sizeof(number));
	if (in)
		add_in(&c, UVERBS_ATTR_CORE_IN, in, in_bytes);
	if (out)
		add_out(&c, UVERBS_ATTR_CORE_OUT, out, out_bytes);
	return issue(ufile, &c);
}

int alloc_pd(int ufile, uint32_t *handle)
{
	struct ib_uverbs_alloc_pd_resp answer = {0};
	struct ib_uverbs_alloc_pd in = {.response = (uintptr_t)&answer};
	int err = invoke_write(ufile, IB_USER_VERBS_CMD_ALLOC_PD, &in, sizeof(in), &answer,
			       sizeof(answer));

	*handle = answer.pd_handle;
	return err;
}

int dealloc_pd(int ufile, uint32_t handle)
{
	struct command c = command(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);

	add(&c, UVERBS_ATTR_DESTROY_PD_HANDLE, 0, handle);
	return issue(ufile, &c);
}

int create_channel(int ufile, int *fd)
{
	struct ib_uverbs_create_comp_channel_resp answer = {0};
	struct ib_uverbs_create_comp_channel in = {.response = (uintptr_t)&answer};
	int err = invoke_write(ufile, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &in, sizeof(in),
			       &answer, sizeof(answer));

	*fd = (int)answer.fd;
	return err;
}

int create_cq(int ufile, uint64_t user_handle, uint32_t *handle, struct mminfo *queue)
{
	uint32_t depth = 16, vector = 0, got;
	struct rxe_create_cq_resp private = {0};
	struct command c = command(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	struct ib_uverbs_attr *made = add(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	int err;

	add_in(&c, UVERBS_ATTR_CREATE_CQ_CQE, &depth, sizeof(depth));
	add_in(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &user_handle, sizeof(user_handle));
	add_in(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &vector, sizeof(vector));
	add_out(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &got, sizeof(got));
	add_out(&c, UVERBS_ATTR_UHW_OUT, &private, sizeof(private));
	err = issue(ufile, &c);
	*handle = (uint32_t)made->data;
	if (queue)
		*queue = private.mi;
	return err;
}

int create_qp(int ufile, uint32_t pd, uint32_t cq, uint32_t *handle)
{
	struct ib_uverbs_qp_cap cap = {8, 8, 1, 1, 0};
	uint64_t user_handle = 1, type = IB_UVERBS_QPT_RC;
	uint32_t number;
	struct rxe_create_qp_resp private = {0};
	struct command c = command(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	struct ib_uverbs_attr *made = add(&c, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	int err;

	add(&c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, pd);
	add(&c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq);
	add(&c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq);
	add_in(&c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &user_handle, sizeof(user_handle));
	add_in(&c, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	add_in(&c, UVERBS_ATTR_CREATE_QP_TYPE, &type, sizeof(type));
	add_out(&c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	add_out(&c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &number, sizeof(number));
	add_out(&c, UVERBS_ATTR_UHW_OUT, &private, sizeof(private));
	err = issue(ufile, &c);
	*handle = (uint32_t)made->data;
	return err;
}

int destroy_qp(int ufile, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp answer;
	struct command c = command(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);

	add(&c, UVERBS_ATTR_DESTROY_QP_HANDLE, 0, handle);
	add_out(&c, UVERBS_ATTR_DESTROY_QP_RESP, &answer, sizeof(answer));
	return issue(ufile, &c);
}

int modify_qp(int ufile, uint32_t handle, int state, uint32_t access)
{
	struct ib_uverbs_modify_qp in = {
	    .qp_handle = handle,
	    .attr_mask = STATE | (state == INIT ? ACCESS | PKEY | PORT : 0),
	    .qp_state = (uint8_t)state,
	    .qp_access_flags = access,
	    .port_num = 1,
	};

	return invoke_write(ufile, IB_USER_VERBS_CMD_MODIFY_QP, &in, sizeof(in), NULL, 0);
}

int query_qp(int ufile, uint32_t handle, struct ib_uverbs_query_qp_resp *answer)
{
	struct ib_uverbs_query_qp in = {
	    .response = (uintptr_t)answer,
	    .qp_handle = handle,
	    .attr_mask = STATE | ACCESS | PKEY | PORT,
	};

	return invoke_write(ufile, IB_USER_VERBS_CMD_QUERY_QP, &in, sizeof(in), answer,
			    sizeof(*answer));
}

/* One byte with one descriptor. */
union rights {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

void send_fd(int sock, int fd)
{
	char byte = 0;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	union rights rights = {.header = {.cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS,
					  .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = &rights,
			     .msg_controllen = sizeof(rights)};

	memcpy(CMSG_DATA(&rights.header), &fd, sizeof(fd));
	EXPECT(sendmsg(sock, &msg, 0) == 1);
}

int receive_fd(int sock)
{
	char byte;
	int fd;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	union rights rights;
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = &rights,
			     .msg_controllen = sizeof(rights)};

	EXPECT(recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) == 1);
	EXPECT(CMSG_FIRSTHDR(&msg) && rights.header.cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(&rights.header), sizeof(fd));
	return fd;
}

int count_qps(void)
{
	char line[128], name[64];
	FILE *out;
	int n = -1;

	snprintf(line, sizeof(line), "rdma resource show %s 2>/dev/null", device_name());
	out = popen(line, "r");
	if (!out || fscanf(out, "%*s %63s", name) != 1)
		skip("rdma(8) does not tell the resources");
	while (fscanf(out, "%63s", name) == 1)
		if (!strcmp(name, "qp") && fscanf(out, "%d", &n) == 1)
			break;
	pclose(out);
	return n;
}

bool await_qps(int n)
{
	struct timespec pause = {.tv_nsec = 20000000};

	for (int waited = 0; waited < PATIENCE_MS; waited += 20) {
		if (count_qps() == n)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}
