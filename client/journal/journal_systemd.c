// SPDX-License-Identifier: Apache-2.0
//
// A cursor is looked for among all entries first, and then again among the wanted ones: whoever
// goes on with other units or levels than before has no gap. Fields are copied, because each call
// of libsystemd may take the one before away.
//
// An entry can be seen before its writer has linked all its fields. The place of a new field's
// first entry is written before the count of its entries: between these two writes the field counts
// as damaged, and libsystemd leaves it out in silence. Were that the message, the entry would be
// one without a message, and be lost. So the newest entry is not believed to have none. It is read
// again when its writer has written the next one, or when the writer must have stopped there.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/journal/journal_library.h"
#include "client/journal/journal_reader.h"
#include "protocol/base/clock.h"
#include "protocol/base/limits.h"
#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

#define FIELD_BYTES ((size_t)4 << 20) // read of a field; journald takes lines of 48 KiB by default
#define UNIT_BYTES 256u
#define LINK_MS 2000 // so late a writer links no more: it was stopped there

struct journal_reader {
    const struct journal_library *lib;
    sd_journal *journal;
    const struct journal_wanted *wanted; // borrowed
    bool stands;                         // on an entry that was not given out yet
    char doubted[JOURNAL_CURSOR_SIZE];   // an entry without a message; "": none
    int64_t doubt_ms;                    // until when it may get one; 0: until another follows
    char here[256];                      // the name of this machine
    struct nvtxt_buf message, unit, machine, text;
    char *cursor; // owned by libc
};

static int tell(int r) {
    return r < 0 ? nvtxt_origin(r) : 0;
}

// ---- Which entries ------------------------------------------------------------------------------

static int match(struct journal_reader *reader, const char *field, const char *value) {
    char text[2 * UNIT_BYTES];
    snprintf(text, sizeof(text), "%s=%s", field, value);
    return tell(reader->lib->sd_journal_add_match(reader->journal, text, 0));
}

static int match_pair(struct journal_reader *reader, const char *trusted, const char *field,
                      const char *unit) {
    int r = tell(reader->lib->sd_journal_add_disjunction(reader->journal));
    r = r ?: tell(reader->lib->sd_journal_add_match(reader->journal, trusted, 0));
    return r ?: match(reader, field, unit);
}

// What journalctl -u takes: the unit's own words, and those of the system about it.
static int match_unit(struct journal_reader *reader, const char *name) {
    char unit[UNIT_BYTES];
    const char *dot = strrchr(name, '.');
    snprintf(unit, sizeof(unit), "%s%s", name, dot && dot[1] ? "" : ".service");
    int r = match(reader, "_SYSTEMD_UNIT", unit);
    r = r ?: match_pair(reader, "_PID=1", "UNIT", unit);
    r = r ?: match_pair(reader, "_UID=0", "OBJECT_SYSTEMD_UNIT", unit);
    r = r ?: match_pair(reader, "_UID=0", "COREDUMP_UNIT", unit);
    return r ?: tell(reader->lib->sd_journal_add_disjunction(reader->journal));
}

static int match_wanted(struct journal_reader *reader) {
    const struct journal_wanted *wanted = reader->wanted;
    int r = 0;
    for (size_t i = 0; r == 0 && i < wanted->unit_count; i++) {
        r = match_unit(reader, wanted->units[i]);
    }
    r = r ?: tell(reader->lib->sd_journal_add_conjunction(reader->journal));
    for (int level = wanted->levels.worst;
         r == 0 && wanted->has_levels && level <= wanted->levels.least; level++) {
        char digit[] = {(char)('0' + level), '\0'};
        r = match(reader, "PRIORITY", digit);
    }
    return r;
}

// ---- Opening ------------------------------------------------------------------------------------

static enum outcome check_rights(const struct journal_library *lib, const char *source, bool quiet,
                                 struct term *term) {
    char id[SD_ID128_STRING_MAX] = "", kept[64], running[64];
    sd_id128_t machine;
    if (!source && lib->sd_id128_get_machine(&machine) == 0) {
        lib->sd_id128_to_string(machine, id);
    }
    snprintf(kept, sizeof(kept), "/var/log/journal/%s", id);
    snprintf(running, sizeof(running), "/run/log/journal/%s", id);
    const char *const folders[] = {kept, running, NULL};
    return journal_rights_check(source, folders, quiet, term);
}

static int open_source(struct journal_reader *reader, const char *source) {
    struct stat status;
    if (!source) {
        return tell(reader->lib->sd_journal_open(&reader->journal, SD_JOURNAL_LOCAL_ONLY));
    }
    if (stat(source, &status) == 0 && S_ISDIR(status.st_mode)) {
        return tell(reader->lib->sd_journal_open_directory(&reader->journal, source, 0));
    }
    // libsystemd watches the folder of a file, and finds none in a name alone.
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s%s", strchr(source, '/') ? "" : "./", source);
    const char *files[] = {path, NULL};
    return tell(reader->lib->sd_journal_open_files(&reader->journal, files, 0));
}

static int open_journal(struct journal_reader **result, const struct journal_library *lib,
                        const struct journal_wanted *wanted) {
    struct journal_reader *reader = calloc(1, sizeof(*reader));
    if (!reader) {
        return nvtxt_origin(-ENOMEM);
    }
    *result = reader;
    reader->lib = lib;
    reader->wanted = wanted;
    if (gethostname(reader->here, sizeof(reader->here) - 1) < 0) {
        reader->here[0] = '\0';
    }
    int r = open_source(reader, wanted->source);
    return r ?: tell(lib->sd_journal_set_data_threshold(reader->journal, FIELD_BYTES));
}

// What libsystemd says of a file that is no journal are several words about data.
static void say_fault(const char *source, int r, struct term *term) {
    bool is_none = r == -EBADMSG || r == -ENODATA || r == -EBADFD;
    if (source && is_none) {
        term_say(
            term,
            "%s is no journal, or a broken one: journalctl --verify --file tells; --text sends "
            "a log of text",
            source);
    } else {
        term_say(term, "%s: %s", source ?: "the journal", strerror(-r));
    }
}

enum outcome journal_reader_open(struct journal_reader **reader,
                                 const struct journal_wanted *wanted, bool quiet,
                                 struct term *term) {
    const char *fault;
    const struct journal_library *lib = journal_library(&fault);
    *reader = NULL;
    if (!lib) {
        term_say(term, "--journal needs libsystemd, which cannot be loaded: %s", fault);
        return OUTCOME_NO_DAEMON;
    }
    enum outcome outcome = check_rights(lib, wanted->source, quiet, term);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    int r = open_journal(reader, lib, wanted);
    if (r < 0) {
        say_fault(wanted->source, r, term);
        journal_reader_close(*reader);
        *reader = NULL;
        return outcome_of_error(r, OUTCOME_BAD_DATA);
    }
    return OUTCOME_DONE;
}

void journal_reader_close(struct journal_reader *reader) {
    if (!reader) {
        return;
    }
    reader->lib->sd_journal_close(reader->journal); // NULL is fine
    nvtxt_buf_deinit(&reader->message);
    nvtxt_buf_deinit(&reader->unit);
    nvtxt_buf_deinit(&reader->machine);
    nvtxt_buf_deinit(&reader->text);
    free(reader->cursor);
    free(reader);
}

// ---- Waiting ------------------------------------------------------------------------------------

int journal_reader_watch(struct journal_reader *reader, int *fd, short *events, int64_t *until_ms) {
    const struct journal_library *lib = reader->lib;
    uint64_t usec = UINT64_MAX;
    *fd = lib->sd_journal_get_fd(reader->journal);
    if (*fd < 0) {
        return tell(*fd);
    }
    int wanted = lib->sd_journal_get_events(reader->journal);
    *events = (short)wanted;
    int r = tell(wanted);
    r = r ?: tell(lib->sd_journal_get_timeout(reader->journal, &usec));
    *until_ms = usec == UINT64_MAX ? -1 : (int64_t)(usec / 1000 + 1);
    if (reader->doubt_ms > 0 && (*until_ms < 0 || reader->doubt_ms < *until_ms)) {
        *until_ms = reader->doubt_ms;
    }
    return r;
}

int journal_reader_woken(struct journal_reader *reader) {
    return tell(reader->lib->sd_journal_process(reader->journal));
}

// ---- Places -------------------------------------------------------------------------------------

int journal_reader_find_end(struct journal_reader *reader, struct journal_place *place) {
    const struct journal_library *lib = reader->lib;
    char *cursor = NULL;
    *place = (struct journal_place){.usec = (uint64_t)(nvtxt_realtime_ns() / 1000)};
    lib->sd_journal_flush_matches(reader->journal);
    int r = tell(lib->sd_journal_seek_tail(reader->journal));
    int there = r ?: lib->sd_journal_previous(reader->journal);
    if (there <= 0) {
        return tell(there);
    }
    r = tell(lib->sd_journal_get_cursor(reader->journal, &cursor));
    r = r ?: tell(lib->sd_journal_get_realtime_usec(reader->journal, &place->usec));
    if (r == 0 && strlen(cursor) < sizeof(place->cursor)) {
        snprintf(place->cursor, sizeof(place->cursor), "%s", cursor);
    }
    free(cursor);
    return r;
}

// Goes to the entry of the cursor, or to the next one after it. Returns 1 when it stands on that
// entry itself, 0, or -errno.
static int go_to(struct journal_reader *reader, const char *cursor) {
    int r = tell(reader->lib->sd_journal_seek_cursor(reader->journal, cursor));
    int there = r ?: reader->lib->sd_journal_next(reader->journal);
    reader->stands = there > 0;
    return there > 0 ? reader->lib->sd_journal_test_cursor(reader->journal, cursor) : there;
}

static int seek_cursor(struct journal_reader *reader, const struct journal_place *place) {
    int known = go_to(reader, place->cursor);
    int r = known < 0 ? tell(known) : match_wanted(reader);
    if (r < 0) {
        return r;
    }
    int here = go_to(reader, place->cursor);
    if (here > 0 && place->taken == 0) {
        reader->stands = false; // it is in: the next one comes next
    }
    return here < 0 ? tell(here) : known > 0 ? 0 : JOURNAL_GAP;
}

int journal_reader_seek(struct journal_reader *reader, const struct journal_place *place) {
    reader->stands = false;
    reader->lib->sd_journal_flush_matches(reader->journal);
    if (*place->cursor) {
        return seek_cursor(reader, place);
    }
    int r = match_wanted(reader);
    return r
               ?: tell(place->usec ? reader->lib->sd_journal_seek_realtime_usec(reader->journal,
                                                                                place->usec)
                                   : reader->lib->sd_journal_seek_head(reader->journal));
}

// ---- Entries ------------------------------------------------------------------------------------

static struct nvtxt_slice view(const struct nvtxt_buf *text) {
    return (struct nvtxt_slice){text->data ?: "", text->len};
}

// Copies a field. Returns 0 or -ENOMEM; `*found` whether it is there and can be read.
static int copy_field(struct journal_reader *reader, const char *field, struct nvtxt_buf *text,
                      bool *found) {
    const void *data;
    size_t len, name = strlen(field) + 1;
    nvtxt_buf_clear(text);
    int r = reader->lib->sd_journal_get_data(reader->journal, field, &data, &len);
    *found = r >= 0 && len >= name;
    if (*found) {
        nvtxt_buf_add(text, (const char *)data + name, len - name);
        nvtxt_buf_add(text, "", 1); // regexec(3) may look for an end, as a sanitizer's does
        text->len -= text->len > 0;
    }
    return r == -ENOMEM || nvtxt_buf_failed(text) ? nvtxt_origin(-ENOMEM) : 0;
}

// A number up to `most`; else `*value` stays.
static int copy_number(struct journal_reader *reader, const char *field, uint64_t most,
                       uint64_t *value) {
    bool found;
    uint64_t number;
    int r = copy_field(reader, field, &reader->text, &found);
    struct nvtxt_scan scan = nvtxt_scan(view(&reader->text));
    if (r == 0 && found && nvtxt_scan_is(&scan, NVTXT_CHAR_DIGIT) &&
        nvtxt_scan_take_uint(&scan, &number) && nvtxt_scan_left(&scan) == 0 && number <= most) {
        *value = number;
    }
    return r;
}

// The first of the fields that the entry has.
static int copy_first(struct journal_reader *reader, const char *const *fields,
                      struct nvtxt_buf *text) {
    bool found = false;
    int r = 0;
    for (; r == 0 && !found && *fields; fields++) {
        r = copy_field(reader, *fields, text, &found);
    }
    return r;
}

static int copy_unit(struct journal_reader *reader, uint64_t pid) {
    // The first of them is believed when systemd itself says it.
    static const char *const fields[] = {
        "UNIT", "_SYSTEMD_USER_UNIT", "_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_COMM", NULL};
    return copy_first(reader, pid == 1 ? fields : fields + 1, &reader->unit);
}

static int copy_machine(struct journal_reader *reader) {
    bool found;
    int r = copy_field(reader, "_HOSTNAME", &reader->machine, &found);
    if (nvtxt_slice_equal(view(&reader->machine), nvtxt_slice_of(reader->here))) {
        nvtxt_buf_clear(&reader->machine);
    }
    return r;
}

static int copy_entry(struct journal_reader *reader, struct journal_entry *entry) {
    uint64_t pid = 0, tid = 0, level = NVTXT_LEVEL_COUNT;
    int r = copy_field(reader, "MESSAGE", &reader->message, &entry->has_message);
    r = r ?: copy_number(reader, "_PID", NVTXT_ID_MAX, &pid);
    tid = pid;
    r = r ?: copy_number(reader, "TID", NVTXT_ID_MAX, &tid);
    r = r ?: copy_number(reader, "PRIORITY", NVTXT_LEVEL_COUNT - 1, &level);
    r = r ?: copy_unit(reader, pid);
    r = r ?: copy_machine(reader);
    r = r ?: tell(reader->lib->sd_journal_get_realtime_usec(reader->journal, &entry->usec));
    free(reader->cursor);
    reader->cursor = NULL;
    r = r ?: tell(reader->lib->sd_journal_get_cursor(reader->journal, &reader->cursor));
    entry->message = view(&reader->message);
    entry->unit = view(&reader->unit);
    entry->machine = view(&reader->machine);
    entry->level = level < NVTXT_LEVEL_COUNT ? (int)level : NVTXT_LEVEL_NONE;
    entry->pid = (uint32_t)pid;
    entry->tid = (uint32_t)tid;
    entry->cursor = reader->cursor;
    return r;
}

enum follower { FOLLOWS_NONE, FOLLOWS_OTHER, FOLLOWS_SAME };

// Whether an entry follows where the reader stands, and is of the same writer: it gives one id to
// all its files, with which their cursors begin. Returns a follower or -errno.
static int find_follower(struct journal_reader *reader) {
    char *cursor = NULL;
    size_t len = strcspn(reader->doubted, ";");
    int r = reader->lib->sd_journal_next(reader->journal);
    if (r > 0) {
        r = reader->lib->sd_journal_get_cursor(reader->journal, &cursor);
        bool same = r >= 0 && strncmp(reader->doubted, cursor, len) == 0 && cursor[len] == ';';
        r = r < 0 ? r : same ? FOLLOWS_SAME : FOLLOWS_OTHER;
        free(cursor);
    }
    return tell(r) ?: r;
}

// Whether no field of the doubted entry can be missing any more.
static bool is_settled(struct journal_reader *reader, enum follower follower) {
    int64_t now = nvtxt_monotonic_ms();
    bool waits = reader->wanted->follow && follower == FOLLOWS_NONE; // it holds up nothing
    if (reader->doubt_ms == 0 && !waits) {
        reader->doubt_ms = now + LINK_MS;
    }
    return follower == FOLLOWS_SAME || (!waits && now >= reader->doubt_ms);
}

// The entry where the reader stands seems to have no message. Returns as journal_reader_next().
static int read_doubted(struct journal_reader *reader, struct journal_entry *entry) {
    if (strcmp(reader->doubted, entry->cursor) != 0) {
        snprintf(reader->doubted, sizeof(reader->doubted), "%s", entry->cursor);
        reader->doubt_ms = 0;
    }
    int follower = find_follower(reader);
    if (follower < 0) {
        return follower;
    }
    int here = go_to(reader, reader->doubted);
    if (here < 0) {
        return tell(here);
    }
    if (!reader->stands) {
        return JOURNAL_NOTHING; // it is gone, and nothing follows
    }
    if (here > 0 && !is_settled(reader, (enum follower)follower)) {
        return JOURNAL_UNLINKED;
    }
    reader->stands = false;
    return copy_entry(reader, entry);
}

int journal_reader_next(struct journal_reader *reader, struct journal_entry *entry) {
    // Meanwhile libsystemd may have left the file, with its place.
    int r = *reader->doubted ? go_to(reader, reader->doubted) : 0;
    if (r < 0) {
        return tell(r);
    }
    r = reader->stands ? 1 : reader->lib->sd_journal_next(reader->journal);
    reader->stands = false;
    if (r <= 0) {
        return r < 0 ? tell(r) : JOURNAL_NOTHING;
    }
    r = copy_entry(reader, entry);
    if (r == 0 && !entry->has_message) {
        r = read_doubted(reader, entry);
    }
    if (r != JOURNAL_UNLINKED) {
        *reader->doubted = '\0';
        reader->doubt_ms = 0;
    }
    return r;
}
