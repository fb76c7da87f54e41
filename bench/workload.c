// SPDX-License-Identifier: Apache-2.0
//
// An event is a function of its kind and its number, so nothing is stored. Lines are written with
// snprintf() into one block.
#include "bench/workload.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define LINE_ROOM 128 // more than the lines of an event take
#define FIRST_START INT64_C(1000000000)

static const struct {
    const char *name;
    const char *definitions;
} kinds[] = {
    [WORKLOAD_SAME] = {"same", "@RangeStartEnd, Start, End, ThreadId, Message\n"},
    [WORKLOAD_UNIQUE] = {"unique", "@RangeStartEnd, Start, End, ThreadId, Message\n"},
    [WORKLOAD_PUSHPOP] = {"pushpop", "@RangePush, Time, ThreadId, Message\n"
                                     "@RangePop, Time, ThreadId\n"},
    [WORKLOAD_MARKERS] = {"markers",
                          "@Marker, Time, ThreadId, CategoryId, Color, Message, Payload\n"},
};

// Colours of the markers, as written and as stored.
static const struct {
    const char *word;
    uint32_t value;
} colors[] = {{"Red", 0xFFFF0000}, {"Green", 0xFF008000}, {"\"#80FF8000\"", 0x80FF8000}};

enum workload_kind workload_kind_of(const char *name) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return (enum workload_kind)i;
        }
    }
    errx(EX_USAGE, "no such kind of events: %s", name);
}

static const enum nvtxt_event_type types[] = {
    [WORKLOAD_SAME] = NVTXT_EVENT_START_END,
    [WORKLOAD_UNIQUE] = NVTXT_EVENT_START_END,
    [WORKLOAD_PUSHPOP] = NVTXT_EVENT_PUSH_POP,
    [WORKLOAD_MARKERS] = NVTXT_EVENT_MARK,
};

static void decorate(uint64_t number, struct workload_row *row) {
    row->end = row->start;
    row->category = (uint32_t)(number % 5);
    row->color = colors[number % 3].value;
    if (number % 4 == 3) {
        row->payload.kind = NVTXT_PAYLOAD_DOUBLE;
        row->payload.real = (double)(number % 1000) + 0.25;
    } else {
        row->payload.kind = NVTXT_PAYLOAD_INT64;
        row->payload.int64 = (int64_t)number;
    }
}

void workload_row(enum workload_kind kind, uint64_t number, struct workload_row *row) {
    uint64_t message = kind == WORKLOAD_UNIQUE ? number : number % WORKLOAD_MESSAGES;
    *row = (struct workload_row){
        .type = types[kind],
        .tid = 1 + (uint32_t)(number % WORKLOAD_THREADS),
        .category = 1,
        .color = 0xFF0000FF,
        .start = FIRST_START + (int64_t)number * WORKLOAD_STEP,
        .text_id = (int64_t)message + 1,
    };
    row->end = row->start + WORKLOAD_STEP / 2;
    row->range_id = row->type == NVTXT_EVENT_START_END ? (int64_t)number + 1 : 0;
    row->text_bytes = snprintf(row->text, sizeof(row->text), "message number %" PRIu64, message);
    if (kind == WORKLOAD_MARKERS) {
        decorate(number, row);
    }
}

struct workload_text workload_head(enum workload_kind kind) {
    struct workload_text head = {0};
    const char *variables = kind == WORKLOAD_MARKERS ? "" : "CategoryId = 1\nColor = Blue\n";
    int len = asprintf(&head.data, "%sProcessId = %d\nTimeBase = Manual\n%s",
                       kinds[kind].definitions, WORKLOAD_PID, variables);
    if (len < 0) {
        err(EX_OSERR, "memory");
    }
    head.len = (size_t)len;
    for (size_t i = 0; i < head.len; i++) {
        head.lines += head.data[i] == '\n';
    }
    return head;
}

static int write_payload(char *to, size_t room, const struct nvtxt_payload *payload) {
    if (payload->kind == NVTXT_PAYLOAD_DOUBLE) {
        return snprintf(to, room, "'%.2f'", payload->real);
    }
    return snprintf(to, room, "%" PRId64, payload->int64);
}

static size_t write_event(enum workload_kind kind, uint64_t number, char *to) {
    struct workload_row row;
    char payload[32];
    int len;
    workload_row(kind, number, &row);
    switch (kind) {
    case WORKLOAD_PUSHPOP:
        len = snprintf(to, LINE_ROOM,
                       "RangePush, %" PRId64 ", %u, \"%s\"\nRangePop, %" PRId64 ", %u\n", row.start,
                       row.tid, row.text, row.end, row.tid);
        break;
    case WORKLOAD_MARKERS:
        write_payload(payload, sizeof(payload), &row.payload);
        len = snprintf(to, LINE_ROOM, "Marker, %" PRId64 ", %u, %u, %s, \"%s\", %s\n", row.start,
                       row.tid, row.category, colors[number % 3].word, row.text, payload);
        break;
    default:
        len = snprintf(to, LINE_ROOM, "RangeStartEnd, %" PRId64 ", %" PRId64 ", %u, \"%s\"\n",
                       row.start, row.end, row.tid, row.text);
        break;
    }
    if (len >= LINE_ROOM) {
        errx(EX_SOFTWARE, "a line needs %d bytes", len);
    }
    return (size_t)len;
}

struct workload_text workload_lines(enum workload_kind kind, uint64_t first, uint64_t count) {
    struct workload_text lines = {.lines = kind == WORKLOAD_PUSHPOP ? 2 * count : count};
    lines.data = malloc(count * LINE_ROOM + 1);
    if (!lines.data) {
        err(EX_OSERR, "%" PRIu64 " events", count);
    }
    for (uint64_t i = 0; i < count; i++) {
        lines.len += write_event(kind, first + i, lines.data + lines.len);
    }
    return lines;
}

double workload_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

uint64_t workload_number(const char *text, const char *usage) {
    char *rest;
    unsigned long long number = strtoull(text, &rest, 10);
    if (rest == text || *rest) {
        errx(EX_USAGE, "usage: %s", usage);
    }
    return number;
}

// ---- Sockets ----------------------------------------------------------------------------------

int workload_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(path) >= sizeof(address.sun_path)) {
        err(EX_OSERR, "socket %s", path);
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
        err(EX_UNAVAILABLE, "%s", path);
    }
    return fd;
}

struct workload_text workload_hello(unsigned number) {
    struct workload_text hello = {0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int len = asprintf(&hello.data,
                       "#nvtxt-session {\"protocol\":1,"
                       "\"session\":\"%08x-%04x-4000-8000-%012llx\"}\n",
                       (unsigned)getpid(), number & 0xffff,
                       (unsigned long long)now.tv_nsec & 0xffffffffffffULL);
    if (len < 0) {
        err(EX_OSERR, "memory");
    }
    hello.len = (size_t)len;
    return hello;
}
