/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tickets of spares, in memory that a process shares with its children, any of which may write
 * anything there: the first bytes of the input are what the process does, the rest is the memory.
 */
#include "fuzz.h"

#include "preload/stock/tickets.h"

#define DEEDS  64
#define OWN    4
#define MEMORY (5 * 4096) /* of struct wv_tickets */

static struct ibv_pd pd;
static struct ibv_cq cq;
static const struct wv_qp_key key = {.pd = &pd, .send_cq = &cq, .recv_cq = &cq};
static struct wv_ticket own[OWN];

static void begin(struct wv_tickets *tickets, struct wv_ticket *ticket)
{
	if (!wv_ticket_begin(tickets, &key, ticket))
		return;
	assert_false(wv_ticket_is_good(ticket));
	for (struct wv_ticket *other = own; other < own + OWN; other++)
		if (other != ticket && other->place == ticket->place)
			assert_false(wv_ticket_is_good(other));
}

/* Nobody else has redeemed it: there is no second time. */
static void redeem(struct wv_ticket *ticket)
{
	struct wv_ticket copy = *ticket;

	if (!wv_ticket_redeem(ticket))
		return;
	assert_null(ticket->place);
	assert_true(!copy.place || !wv_ticket_redeem(&copy));
}

static void destroy(struct wv_ticket *ticket)
{
	struct wv_ticket copy = *ticket;

	if (!wv_ticket_begin_end(ticket, NULL))
		return;
	wv_ticket_end(ticket);
	assert_null(ticket->place);
	assert_true(!copy.place || !wv_ticket_is_good(&copy));
}

/* As many spares as there are places: what is destroyed is not found again. */
static void destroy_all(struct wv_tickets *tickets, const void *object)
{
	struct wv_ticket ticket;
	uint32_t handle;

	for (unsigned int n = 0; wv_ticket_begin_end_of(tickets, object, NULL, &ticket, &handle);
	     n++) {
		assert_true(n < MEMORY);
		wv_ticket_end(&ticket);
	}
}

static void put_back(struct wv_tickets *tickets)
{
	struct wv_ticket ticket;
	uint32_t handle, again;

	if (!wv_ticket_begin_end_of(tickets, &cq, NULL, &ticket, &handle))
		return;
	wv_ticket_put_back(&ticket);
	assert_true(wv_ticket_begin_end_of(tickets, &cq, NULL, &ticket, &again));
	assert_int_equal(again, handle);
	wv_ticket_put_back(&ticket);
}

static void act(struct wv_tickets *tickets, uint8_t deed)
{
	struct wv_ticket *ticket = &own[deed / 8 % OWN];

	switch (deed % 8) {
	case 0:
		begin(tickets, ticket);
		break;
	case 1:
		if (ticket->place)
			wv_ticket_made(ticket, deed);
		break;
	case 2:
		redeem(ticket);
		break;
	case 3:
		destroy(ticket);
		break;
	case 4:
		destroy_all(tickets, deed / 8 % 2 ? (void *)&pd : &cq);
		break;
	case 5:
		put_back(tickets);
		break;
	default:
		break;
	}
}

/* Names of the target's objects: an input cannot know their addresses. */
static void name_objects(uint8_t *memory)
{
	static const void *const objects[] = {NULL, &pd, &cq};
	uint64_t word;

	for (size_t at = 0; at < MEMORY; at += sizeof(word)) {
		memcpy(&word, memory + at, sizeof(word));
		if (word && word < WV_ARRAY_SIZE(objects))
			memcpy(memory + at, &objects[word], sizeof(word));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	size_t deeds = bytes < DEEDS ? bytes : DEEDS, rest = bytes - deeds;
	struct wv_tickets *tickets = wv_tickets_new();

	assert_non_null(tickets);
	memset(own, 0, sizeof(own));
	memcpy(tickets, data + deeds, rest < MEMORY ? rest : MEMORY);
	name_objects((uint8_t *)tickets);
	for (size_t i = 0; i < deeds; i++)
		act(tickets, data[i]);
	wv_tickets_free(tickets);
	return 0;
}
