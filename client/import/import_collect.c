// SPDX-License-Identifier: Apache-2.0
//
// The command collect: the NVTXT files of report folders into a new store. It prints the two
// summaries that a report has, a table of the files and all messages, and the folders. The messages
// come while the files are loaded and are printed after the table, so they wait in an unlinked
// file.
#include "client/import/import_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/out_file.h"

#define NO_NAME "-" // for a file that sets no display name

struct row { // of the Report Summary
    bool loaded;
    char display_name[IMPORT_NAME_BYTES];
    uint64_t events, warnings, errors;
};

struct collect {
    const struct import_job *job;
    struct term *term;
    struct folders folders;
    struct row *rows; // one a file; owned
    FILE *messages;   // owned
    bool faulty;      // a folder or a file could not be read, or a file had errors
};

// ---- Finding ------------------------------------------------------------------------------------

static enum outcome add_folder(struct collect *collect, const char *folder) {
    size_t found;
    int r = folders_add(&collect->folders, folder, &found);
    if (found > 0) {
        return OUTCOME_DONE;
    }
    collect->faulty = true;
    if (r == FOLDERS_IS_NONE) {
        term_say(collect->term, "%s is no folder: name files with 'nvtxt-import create -n'",
                 folder);
    } else if (r < 0) {
        term_say(collect->term, "%s: %s", folder, strerror(-r));
    } else {
        term_say(collect->term,
                 collect->folders.no_session
                     ? "%s: no *.nvtxt file of a capture is in it"
                     : "%s: no *.nvtxt file is in it, nor in its session folder",
                 folder);
    }
    return outcome_of_error(r, OUTCOME_DONE);
}

static enum outcome find_files(struct collect *collect) {
    const struct import_job *job = collect->job;
    enum outcome r = OUTCOME_DONE;
    for (int i = 0; i < job->file_count && r == 0; i++) {
        r = add_folder(collect, job->files[i]);
    }
    if (job->file_count == 0) {
        r = add_folder(collect, getenv(NVTXT_SESSION_VARIABLE));
    }
    if (r == 0 && collect->folders.count == 0) {
        r = OUTCOME_NO_INPUT;
    }
    return r;
}

// ---- Loading ------------------------------------------------------------------------------------

// Opens regular files only: opening a pipe would wait for its writer.
static enum outcome load_file(struct collect *collect, struct import *import, size_t index) {
    const struct folders_file *file = &collect->folders.files[index];
    struct row *row = &collect->rows[index];
    enum outcome r = OUTCOME_FAULTS;
    if (file->is_regular) {
        r = import_file(import, file->path, &row->loaded);
    } else {
        term_say(collect->term, "%s is no file: it is left out", file->path);
    }
    if (!row->loaded) {
        char path[PATH_MAX];
        term_printable(path, sizeof(path), file->path);
        fprintf(collect->messages, "%s: error: it cannot be read\n", path);
        return r;
    }
    memcpy(row->display_name, import->display_name, sizeof(row->display_name));
    row->events = import->counters.events;
    row->warnings = import->counters.warnings;
    row->errors = import->counters.errors;
    return r;
}

static enum outcome load_files(struct collect *collect, struct import *import) {
    size_t loaded = 0;
    for (size_t i = 0; i < collect->folders.count; i++) {
        enum outcome r = load_file(collect, import, i);
        if (r > OUTCOME_FAULTS) {
            return r;
        }
        collect->faulty |= r == OUTCOME_FAULTS;
        loaded += collect->rows[i].loaded;
    }
    return loaded > 0 ? OUTCOME_DONE : OUTCOME_NO_INPUT;
}

static enum outcome fill_store(struct collect *collect, const struct out_file *out) {
    struct import import;
    enum outcome status = import_open(&import, out->temp, &collect->job->load, collect->term);
    if (status != 0) {
        return status;
    }
    int held = out_file_hold(out);
    import.quiet = collect->job->quiet;
    import.messages = collect->messages;
    status = load_files(collect, &import);
    status = status ?: import_finish(&import);
    import_abandon(&import);
    close(held);
    return status;
}

// ---- Summaries ----------------------------------------------------------------------------------

static void print_row(const struct collect *collect, size_t index, int widths[2]) {
    const struct row *row = &collect->rows[index];
    char file[PATH_MAX];
    char name[IMPORT_NAME_BYTES];
    term_printable(file, sizeof(file), collect->folders.files[index].path);
    term_printable(name, sizeof(name), row->display_name[0] ? row->display_name : NO_NAME);
    if (!row->loaded) {
        printf("%-*s  %-*s  cannot be read\n", widths[0], file, widths[1], name);
        return;
    }
    printf("%-*s  %-*s  %10" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "\n", widths[0], file, widths[1],
           name, row->events, row->warnings, row->errors);
}

static void print_report(const struct collect *collect) {
    int widths[2] = {(int)strlen("file"), (int)strlen("display name")};
    size_t faulty = 0;
    for (size_t i = 0; i < collect->folders.count; i++) {
        int path = (int)strlen(collect->folders.files[i].path);
        int name = (int)strlen(collect->rows[i].display_name);
        widths[0] = path > widths[0] ? path : widths[0];
        widths[1] = name > widths[1] ? name : widths[1];
        faulty += !collect->rows[i].loaded || collect->rows[i].errors > 0;
    }
    printf("Report Summary\n%-*s  %-*s  %10s  %8s  %8s\n", widths[0], "file", widths[1],
           "display name", "events", "warnings", "errors");
    for (size_t i = 0; i < collect->folders.count; i++) {
        print_row(collect, i, widths);
    }
    if (faulty > 0) {
        printf("Warning: %zu file%s errors; see the Session Summary.\n", faulty,
               faulty == 1 ? " has" : "s have");
    }
}

static void print_session(const struct collect *collect) {
    char part[4096];
    size_t n;
    printf("\nSession Summary\n");
    rewind(collect->messages);
    bool any = false;
    while ((n = fread(part, 1, sizeof(part), collect->messages)) > 0) {
        fwrite(part, 1, n, stdout);
        any = true;
    }
    if (!any) {
        printf("No messages.\n");
    }
}

static void print_folders(const struct folders *folders) {
    printf("\nFolders\n");
    for (size_t i = 0; i < folders->taken_count; i++) {
        const struct folders_taken *taken = &folders->taken[i];
        char path[PATH_MAX];
        term_printable(path, sizeof(path), taken->path);
        printf("%s: %zu file%s\n", path, taken->files, taken->files == 1 ? "" : "s");
    }
}

static enum outcome print_summaries(const struct collect *collect) {
    print_report(collect);
    if (!collect->job->quiet) {
        print_session(collect);
    }
    print_folders(&collect->folders);
    if (fflush(stdout) != 0 || ferror(collect->messages)) {
        term_say(collect->term, "cannot write the summaries: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return 0;
}

// ---- The command --------------------------------------------------------------------------------

static enum outcome run_collect(struct collect *collect, struct out_file *out) {
    enum outcome status = find_files(collect);
    if (status != 0) {
        return status;
    }
    collect->rows = calloc(collect->folders.count, sizeof(*collect->rows));
    collect->messages = tmpfile();
    if (!collect->rows || !collect->messages) {
        term_say(collect->term, "cannot start: %s", strerror(errno));
        return OUTCOME_SYSTEM;
    }
    status = fill_store(collect, out);
    status = status ?: out_file_publish(out, collect->term);
    status = status ?: print_summaries(collect);
    return status == OUTCOME_DONE && collect->faulty ? OUTCOME_FAULTS : status;
}

enum outcome import_collect(const struct import_job *job, struct term *term) {
    struct collect collect = {.job = job, .term = term, .folders.no_session = job->no_session};
    struct out_file out;
    const char *session = getenv(NVTXT_SESSION_VARIABLE);
    if (job->file_count == 0 && (!session || !session[0])) {
        term_say(term, "collect needs folders: name them, or set " NVTXT_SESSION_VARIABLE);
        return arguments_refuse(term);
    }
    if (!job->output || job->input) {
        term_say(term, job->output ? "collect makes a new store; it takes no -i"
                                   : "collect needs a store to make: -o STORE");
        return arguments_refuse(term);
    }
    enum outcome status = import_begin_output(job, false, &out, term);
    if (status != 0) {
        return status;
    }
    import_ignore_target(job, term);
    status = run_collect(&collect, &out);
    out_file_discard(&out);
    if (collect.messages) {
        fclose(collect.messages);
    }
    free(collect.rows);
    folders_deinit(&collect.folders);
    return status;
}
