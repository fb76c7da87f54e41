// SPDX-License-Identifier: Apache-2.0
//
// The session with the daemon: connects, says hello, sends the lines of the window, takes
// acknowledgements, resumes after a break, ends. Nothing here waits. Lines are numbered over the
// whole session, so after a break the daemon's welcome says where sending goes on, and each line
// has its effect once.
#pragma once

#include <stdint.h>

#include "lib/ring/pass.h"
#include "lib/ring/region.h"
#include "lib/send/link.h"

#define SENDER_PATHS 4u // sockets that are tried, in order

struct sender_options {
    char paths[SENDER_PATHS][108];
    uint32_t path_count;
    char name[256];
    char parent[NVTXT_PARENT_BYTES + 1]; // a token; "": none
    bool levels;                         // payloads of marks are severities
    uint32_t expiry; // seconds that the session stays resumable; 0: as the daemon likes
    bool logs_to_stderr;
    uint64_t (*names_version)(void);
    void (*name_thread)(uint32_t tid); // may open files, of the sender's own descriptors
    void (*on_empty)(uint32_t ring);
    void (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    void (*on_limits)(uint64_t push_depth, uint64_t open_ranges); // of the daemon; 0: not said
};

enum session_phase {
    SESSION_AWAY,  // no connection
    SESSION_HELLO, // waits for the welcome
    SESSION_LINES,
    SESSION_ENDING, // has said that it ends
    SESSION_OVER    // has ended, or nobody is there who could take what is left
};

#define SESSION_SETTING 1200u // bytes of a line that sets ThreadId or Domain

struct session {
    struct region *region;
    struct pass *pass; // what there is to send; acknowledgements go to `pass->next`
    const struct sender_options *options;
    struct link link;
    enum session_phase phase;
    uint64_t sent, sent_lines; // position and number of what was handed to the socket
    const char *out;           // hello, preamble or end on their way
    size_t out_len;
    char hello[4096];
    char settings[2][SESSION_SETTING]; // the last ThreadId and Domain line that was acknowledged
    size_t setting_len[2];
    char replies[8192];
    size_t reply_len;
    bool skips_reply; // one that is too long
    int64_t retry_at, hello_at;
    int backlog_ms, retry_ms;
    bool knows_limits;  // a daemon has said them
    bool is_refused;    // by a daemon that does not take our lines
    bool is_absent;     // the last attempt to connect found no daemon
    bool has_hurried;   // has tried at once when the process began to end
    const char *logged; // the last trouble that was logged
    struct region_session next;
};

// Makes a session's id.
void session_make_id(char *id);

// `owns_thread`: the calling thread is the session's own, and needs no descriptor of the program's.
void session_init(struct session *session, struct pass *pass, const struct sender_options *options,
                  bool owns_thread);

// Does what can be done without waiting. `is_ending`: the process ends, so what cannot be sent now
// is given up unless the daemon may come back.
void session_turn(struct session *session, bool is_ending);

// All lines are made: ends the session when they are sent.
void session_end(struct session *session);

// Whether lines are not acknowledged.
bool session_has_unacked(const struct session *session);

// Whether the socket has no room for what there is to send.
bool session_wants_room(const struct session *session);

// ---- Replies ------------------------------------------------------------------------------------

// The daemon's replies, as far as a library must know them. They are scanned in place, without
// memory of their own; what is unknown or malformed is no reply.
enum answer_type {
    ANSWER_OTHER, // a diagnostic, or of a later version
    ANSWER_WELCOME,
    ANSWER_ACK,
    ANSWER_END,
    ANSWER_ERROR,
};

struct answer {
    enum answer_type type;
    uint64_t line;       // welcome, ack, end
    uint64_t nvtx;       // welcome: 0 when the daemon does not know the extension
    uint64_t line_bytes; // welcome: limits; 0 when it does not say
    uint64_t variable_bytes, push_depth, open_ranges;
    char code[32]; // error
};

// Reads one line without its LF. Returns false when it is no JSON object of one level of objects.
bool answer_read(const char *text, size_t len, struct answer *answer);
