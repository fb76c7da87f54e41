// SPDX-License-Identifier: Apache-2.0
//
// How long a line is on its way. A session sends RATE events a second, a thousandth of them every
// millisecond, and notes when it wrote each piece. One thread reads the acks. Another asks the
// store every 0.2 ms, as a reader does that must see new rows at once (data_version, then the
// largest rowid). A piece has arrived when its last line has. The time is taken before the write,
// so that waiting for a full socket counts.
//
//   pace SOCKET STORE RATE SECONDS
//
// prints, in ms: median, p99, p99.9 and largest time from line to ack, the same from line to
// visible, and the events per second that it really wrote. It must be the only sender.
#include <err.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "bench/workload.h"
#include "protocol/wire/hello.h"

#define USAGE "pace SOCKET STORE RATE SECONDS"
#define PIECES_A_SECOND 1000
#define POLL_NS 200000
#define GIVE_UP 60 // seconds after the last line

struct arrival {
    uint64_t count; // lines or rows that had arrived
    double at;
};

struct arrivals {
    struct arrival *list;
    size_t count, room;
};

struct pace {
    int fd;
    FILE *replies;
    sqlite3 *db;
    uint64_t events; // to be seen
    size_t pieces;
    uint64_t head_lines;
    int64_t rows_before;
    double *written; // when each piece was
    struct workload_text *texts;
    struct arrivals acks, rows;
};

static void note(struct arrivals *arrivals, uint64_t count) {
    if (arrivals->count == arrivals->room) {
        arrivals->room = arrivals->room ? 2 * arrivals->room : 1024;
        arrivals->list = realloc(arrivals->list, arrivals->room * sizeof(*arrivals->list));
        if (!arrivals->list) {
            err(EX_OSERR, "memory");
        }
    }
    arrivals->list[arrivals->count++] = (struct arrival){count, workload_seconds()};
}

static void *read_acks(void *context) {
    struct pace *pace = context;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, pace->replies) > 0) {
        unsigned long long number;
        if (sscanf(line, "{\"type\":\"ack\",\"line\":%llu", &number) == 1) {
            note(&pace->acks, number);
        } else if (strstr(line, "\"type\":\"end\"")) {
            note(&pace->acks, UINT64_MAX);
        } else {
            errx(EX_PROTOCOL, "unexpected: %s", line);
        }
    }
    free(line);
    return NULL;
}

static int64_t ask(sqlite3_stmt *stmt) {
    if (sqlite3_step(stmt) != SQLITE_ROW) {
        errx(EX_IOERR, "store: %s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
    }
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return value;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        errx(EX_IOERR, "store: %s", sqlite3_errmsg(db));
    }
    return stmt;
}

#define MAX_ROWID "SELECT ifnull(max(rowid), 0) FROM NVTX_EVENTS"

static void *poll_store(void *context) {
    struct pace *pace = context;
    sqlite3_stmt *version = prepare(pace->db, "PRAGMA data_version");
    sqlite3_stmt *rows = prepare(pace->db, MAX_ROWID);
    int64_t seen = ask(version);
    uint64_t visible = 0;
    while (visible < pace->events) {
        int64_t now = ask(version);
        if (now != seen) {
            seen = now;
            visible = (uint64_t)(ask(rows) - pace->rows_before);
            note(&pace->rows, visible);
        }
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
    sqlite3_finalize(version);
    sqlite3_finalize(rows);
    return NULL;
}

static void send_all(int fd, struct workload_text text) {
    while (text.len > 0) {
        ssize_t n = send(fd, text.data, text.len, MSG_NOSIGNAL);
        if (n < 0) {
            err(EX_IOERR, "send");
        }
        text.data += n;
        text.len -= (size_t)n;
    }
}

static void begin(struct pace *pace, const char *socket, const char *store) {
    struct workload_text hello = workload_hello(0);
    struct workload_text head = workload_head(WORKLOAD_SAME);
    char *welcome = NULL;
    size_t room = 0;
    if (sqlite3_open_v2(store, &pace->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        errx(EX_NOINPUT, "%s: %s", store, sqlite3_errmsg(pace->db));
    }
    sqlite3_busy_timeout(pace->db, 1000);
    sqlite3_stmt *rows = prepare(pace->db, MAX_ROWID);
    pace->rows_before = ask(rows);
    sqlite3_finalize(rows);
    pace->fd = workload_connect(socket);
    pace->replies = fdopen(dup(pace->fd), "r");
    send_all(pace->fd, hello);
    send_all(pace->fd, head);
    if (!pace->replies || getline(&welcome, &room, pace->replies) < 0 ||
        !strstr(welcome, "welcome")) {
        errx(EX_PROTOCOL, "no welcome");
    }
    pace->head_lines = head.lines;
    free(welcome);
    free(hello.data);
    free(head.data);
}

static void send_paced(struct pace *pace) {
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (size_t i = 0; i < pace->pieces; i++) {
        next.tv_nsec += 1000000000 / PIECES_A_SECOND;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) != 0) {
        }
        pace->written[i] = workload_seconds();
        send_all(pace->fd, pace->texts[i]);
    }
}

// ---- Figures ----------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// `lines` is how many arrive before the first piece.
static void print(const struct pace *pace, const struct arrivals *arrivals, uint64_t lines) {
    double *times = calloc(pace->pieces, sizeof(*times));
    size_t next = 0;
    if (!times) {
        err(EX_OSERR, "memory");
    }
    for (size_t i = 0; i < pace->pieces; i++) {
        lines += pace->texts[i].lines;
        while (next < arrivals->count && arrivals->list[next].count < lines) {
            next++;
        }
        if (next == arrivals->count) {
            errx(EX_DATAERR, "piece %zu never arrived", i);
        }
        times[i] = (arrivals->list[next].at - pace->written[i]) * 1e3;
    }
    qsort(times, pace->pieces, sizeof(*times), compare);
    printf("%.3f %.3f %.3f %.3f ", times[pace->pieces / 2], times[pace->pieces * 99 / 100],
           times[pace->pieces * 999 / 1000], times[pace->pieces - 1]);
    free(times);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        errx(EX_USAGE, "usage: %s", USAGE);
    }
    uint64_t rate = workload_number(argv[3], USAGE);
    struct pace pace = {.pieces = PIECES_A_SECOND * workload_number(argv[4], USAGE)};
    uint64_t piece = rate / PIECES_A_SECOND;
    if (piece == 0 || pace.pieces == 0) {
        errx(EX_USAGE, "at least %d events a second, for a second", PIECES_A_SECOND);
    }
    pace.events = piece * pace.pieces;
    pace.written = calloc(pace.pieces, sizeof(*pace.written));
    pace.texts = calloc(pace.pieces, sizeof(*pace.texts));
    if (!pace.written || !pace.texts) {
        err(EX_OSERR, "memory");
    }
    for (size_t i = 0; i < pace.pieces; i++) {
        pace.texts[i] = workload_lines(WORKLOAD_SAME, i * piece, piece);
        pace.texts[i].data = realloc(pace.texts[i].data, pace.texts[i].len);
    }
    begin(&pace, argv[1], argv[2]);
    pthread_t acks, rows;
    if (pthread_create(&acks, NULL, read_acks, &pace) ||
        pthread_create(&rows, NULL, poll_store, &pace)) {
        errx(EX_OSERR, "threads");
    }
    double started = workload_seconds();
    send_paced(&pace);
    double seconds = workload_seconds() - started;
    send_all(pace.fd, (struct workload_text){NVTXT_END_LINE "\n", sizeof(NVTXT_END_LINE), 0});
    alarm(GIVE_UP);
    pthread_join(acks, NULL);
    pthread_join(rows, NULL);
    print(&pace, &pace.acks, pace.head_lines);
    print(&pace, &pace.rows, 0);
    printf("%.0f\n", (double)pace.events / seconds);
    return 0;
}
