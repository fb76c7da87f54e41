// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-send was built without libsystemd: there is no reader.
#include "client/journal/journal_reader.h"
#include "protocol/base/origin.h"

enum outcome journal_reader_open(struct journal_reader **reader,
                                 const struct journal_wanted *wanted, bool quiet,
                                 struct term *term) {
    (void)wanted, (void)quiet;
    *reader = NULL;
    term_say(term, "--journal needs libsystemd, and this nvtxt-send was built without it; "
                   "'journalctl --follow | nvtxt-send --text' needs none");
    return OUTCOME_NO_DAEMON;
}

void journal_reader_close(struct journal_reader *reader) {
    (void)reader;
}

int journal_reader_watch(struct journal_reader *reader, int *fd, short *events, int64_t *until_ms) {
    (void)reader, (void)fd, (void)events, (void)until_ms;
    return nvtxt_origin(-ENOSYS);
}

int journal_reader_woken(struct journal_reader *reader) {
    (void)reader;
    return nvtxt_origin(-ENOSYS);
}

int journal_reader_find_end(struct journal_reader *reader, struct journal_place *place) {
    (void)reader, (void)place;
    return nvtxt_origin(-ENOSYS);
}

int journal_reader_seek(struct journal_reader *reader, const struct journal_place *place) {
    (void)reader, (void)place;
    return nvtxt_origin(-ENOSYS);
}

int journal_reader_next(struct journal_reader *reader, struct journal_entry *entry) {
    (void)reader, (void)entry;
    return nvtxt_origin(-ENOSYS);
}
