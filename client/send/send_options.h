// SPDX-License-Identifier: Apache-2.0
//
// The command line of nvtxt-send, as values.
#pragma once

#include "client/common/arguments.h"
#include "client/journal/journal_reader.h"
#include "client/send/transfer.h"

struct send_arguments {
    struct transfer_options transfer;
    struct arguments_mapping mapping;
    struct textlog_options text; // levels are owned
    const char *socket;
    const char *name; // NULL: the file's
    bool has_pid;
    uint32_t pid;
    char session[NVTXT_SESSION_ID_BYTES + 1]; // "": a new id each time
    bool is_text;
    bool has_levels; // --level-pattern
    bool has_color;
    char parent[NVTXT_PARENT_BYTES + 1]; // of what is recorded; "": none
    const char *mark;                    // TEXT; NULL: none
    const char *payload;                 // of the mark; NULL: none
    const char *range;                   // TEXT; NULL: a command's range has its command line
    int64_t repeat;                      // runs of the command; 0: one, without figures
    int64_t warm_ups;                    // ... and before them
    bool ignore_failure;                 // ... also when one fails
    bool steps;
    bool nvtx;          // the command's NVTX calls are recorded
    bool print;         // ... no command: print the variables for it
    bool record_output; // ... its output, too
    bool is_journal;    // entries of the journal are sent
    bool follow;        // ... and those that come later
    bool has_since;
    uint64_t since_usec;           // where the first run begins
    struct journal_wanted journal; // which entries
    struct nvtxt_option_list units;
    const char *state;          // the file that remembers the place; NULL: none
    const char *session_folder; // where the command puts files; NULL: a private one
    const char *spool;          // folder; NULL: none
    const char *resume;         // folder; NULL: new sessions are sent
    uint64_t spool_limit;
    char **files; // up to a NULL
    int file_count;
    char **command; // likewise; NULL: files are sent
};

// `argv` is changed; the arguments point into it.
enum outcome send_arguments_parse(struct send_arguments *args, struct term *term, int argc,
                                  char **argv);

// ---- The journal --------------------------------------------------------------------------------

// `nvtxt-send --journal`: sends the entries that `args` describes. Returns the outcome, after
// sentences.
enum outcome send_journal(struct send_arguments *args, struct term *term);

// ---- Marks --------------------------------------------------------------------------------------

// `nvtxt-send --mark TEXT`: one marker of this moment, as lines of NVTXT that are sent like those
// of any other input.
struct mark {
    const char *text;
    const char *category; // name; NULL: none
    const char *payload;  // as mark_payload_fits() knows it; NULL: none
    uint32_t color;
    uint32_t pid;
    int64_t time_ns; // CLOCK_REALTIME
};

// The payload of an event: an integer or a decimal number, as nvtxt(5) writes them.
bool mark_payload_fits(const char *text);

// Makes an input of the mark, for a session with escapes; input_close() ends it. Returns 0 or
// -errno.
int mark_open(struct input *input, const struct mark *mark);

// The ProcessId of a marker from a shell: the process that started us, so that the marks of a
// script have one process. Our own when only init is left.
uint32_t mark_usual_pid(void);

// ---- Programs with NVTX (nvtx_command.c) --------------------------------------------------------

struct nvtx_run;

// Whether there is a daemon to send to. One that was there is waited for.
bool send_has_daemon(const struct send_arguments *args);

// Finds out what the command's programs need, and puts it into our environment.
void nvtx_command_begin(const struct send_arguments *args, struct nvtx_run *run, struct term *term);

// Sends what processes of the command left that were killed; `goes_on` false: what is left is only
// named.
void nvtx_command_end(struct send_arguments *args, struct term *term, struct nvtx_run *run,
                      bool goes_on);

// Prints the variables for programs that somebody else starts.
enum outcome nvtx_command_print(const struct send_arguments *args, struct term *term);
