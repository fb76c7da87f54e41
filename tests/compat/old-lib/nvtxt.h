/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtxt.h: a program annotates itself, and nvtxtd stores it. Calls are recorded in memory and sent
 * by a thread of the library; none waits for the daemon, takes a lock of the program's or changes
 * errno. Without a daemon everything here goes on working and costs the same.
 *
 * Texts are UTF-8 and copied; NULL is "". A NULL domain is none. All functions may be called from
 * all threads, and in children made by fork. Manual page: nvtxt(3).
 */
#ifndef NVTXT_H
#define NVTXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvtxt_domain; /* a name space of a library; lives as long as the process */
struct nvtxt_string; /* a text that is used often; lives as long as the process */

enum nvtxt_value_kind {
    NVTXT_NO_VALUE,
    NVTXT_U64,
    NVTXT_I64,
    NVTXT_F64,
    NVTXT_U32,
    NVTXT_I32,
    NVTXT_F32
};

/* What an event bears. Zero it, then set size; later versions append members. */
struct nvtxt_attr {
    size_t size;                       /* sizeof(struct nvtxt_attr) */
    const char *message;               /* or: */
    const struct nvtxt_string *string; /* wins when both are there */
    const char *json;                  /* one JSON value, or NULL */
    uint32_t category, color;          /* 0: none; 0xAARRGGBB */
    uint32_t value_kind, reserved;     /* enum nvtxt_value_kind */
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } value;
};

/* Where and how to record. Zero it, then set size. 0 and NULL: what the environment says, else the
 * default. */
struct nvtxt_options {
    size_t size;
    const char *socket;    /* the daemon's data socket */
    const char *name;      /* what the store calls this program */
    const char *spool;     /* a folder that keeps what a killed program had recorded */
    uint64_t ring_bytes;   /* for a thread; a power of two, 64 KiB to 64 MiB */
    uint64_t window_bytes; /* of lines that are not acknowledged, at most */
    uint32_t exit_ms;      /* how long the end of the process may wait */
    uint32_t reserved;
};

struct nvtxt_stats {
    size_t size;
    uint64_t recorded;    /* calls */
    uint64_t dropped;     /* calls without room */
    uint64_t ignored;     /* ends of ranges that are not open, calls of no meaning here */
    uint64_t lines_sent;  /* handed to the socket */
    uint64_t lines_acked; /* committed by the daemon */
    int connected;        /* 1: a session is open now */
};

/* Optional, and only before the first event; variables of the environment win over `options`.
 * Returns 0, -EALREADY after the first event, or -EINVAL for a value that cannot be. */
int nvtxt_init(const struct nvtxt_options *options);

/* The same name gives the same domain. NULL: no domain, for a NULL or empty name, and when there
 * are 4,096. */
struct nvtxt_domain *nvtxt_domain_get(const char *name);

/* The same text gives the same string. NULL when the 65,536 or their 16 MiB are used up. */
const struct nvtxt_string *nvtxt_string_get(const char *text);

/* An event of this moment. */
void nvtxt_mark(const char *message);
void nvtxt_mark_ex(struct nvtxt_domain *domain, const struct nvtxt_attr *attr);

/* Ranges of this thread, one inside of the other, a stack for each domain. Push returns the level
 * of the range, from 0, also when it was dropped; -ENOTSUP when nothing can be recorded here. Pop
 * returns the level that ended, or -ENOENT when none was open. */
int nvtxt_push(const char *message);
int nvtxt_push_ex(struct nvtxt_domain *domain, const struct nvtxt_attr *attr);
int nvtxt_pop(void);
int nvtxt_pop_ex(struct nvtxt_domain *domain, const char *json);

/* Ranges that any thread may end. Start never returns 0; to end 0, an unknown range or one twice
 * does nothing. */
uint64_t nvtxt_start(const char *message);
uint64_t nvtxt_start_ex(struct nvtxt_domain *domain, const struct nvtxt_attr *attr);
void nvtxt_end(uint64_t range);
void nvtxt_end_ex(uint64_t range, const char *json);

/* A counter's value at this moment. */
void nvtxt_sample_i64(struct nvtxt_domain *domain, const struct nvtxt_string *counter,
                      int64_t value);
void nvtxt_sample_f64(struct nvtxt_domain *domain, const struct nvtxt_string *counter,
                      double value);

/* Names. They are kept until they are stored, and never dropped; the newest one counts. */
void nvtxt_name_category(struct nvtxt_domain *domain, uint32_t category, const char *name);
void nvtxt_name_thread(uint32_t tid, const char *name); /* 0: the caller */
void nvtxt_name_process(const char *name);
void nvtxt_name_resource(struct nvtxt_domain *domain, const char *kind, uint64_t handle,
                         const char *name);

/* Waits until everything that was recorded before is committed. Returns 0, -ETIMEDOUT, or
 * -ENOTCONN at the end of the time when there is no daemon. */
int nvtxt_flush(int timeout_ms);

/* Fills what lies inside stats->size. */
void nvtxt_get_stats(struct nvtxt_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
