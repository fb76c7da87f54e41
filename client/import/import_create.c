// SPDX-License-Identifier: Apache-2.0
//
// The command create: files into a new store. It also has what the commands share: beginning the
// output, and loading files one after the other into whatever is open.
#include "client/import/import_job.h"

#include <string.h>
#include <unistd.h>

#include "client/common/out_file.h"

enum outcome import_file(struct import *import, const char *path, bool *loaded) {
    struct input input;
    int r = input_open(&input, path);
    *loaded = r == 0;
    if (r == INPUT_IS_FOLDER) {
        term_say(import->term, "%s is a folder: name its files, or use 'nvtxt-import collect'",
                 input.name);
    } else if (r != 0) {
        term_say(import->term, "%s: %s", input.name, input_why(r));
    }
    if (r != 0) {
        return OUTCOME_FAULTS;
    }
    enum outcome outcome = import_input(import, &input);
    input_close(&input);
    return outcome;
}

enum outcome import_files(struct import *import, const struct import_job *job) {
    enum outcome status = OUTCOME_DONE;
    bool any = false;
    for (int i = 0; i < job->file_count; i++) {
        bool loaded;
        enum outcome r = import_file(import, job->files[i], &loaded);
        if (r > OUTCOME_FAULTS) {
            return r;
        }
        any |= loaded;
        status = r > status ? r : status;
    }
    return any ? status : OUTCOME_NO_INPUT;
}

enum outcome import_begin_output(const struct import_job *job, bool exports, struct out_file *out,
                                 struct term *term) {
    if (strcmp(job->output, "-") == 0) {
        term_say(term, "a store cannot go to standard output; './-' is a file of that name");
        return OUTCOME_USAGE;
    }
    enum outcome status = arguments_check_mapping(&job->load.mapping, term, false);
    if (status == 0 && job->force) {
        status = import_check_replaced(job->output, exports, term);
    }
    status = status ?: out_file_init(out, term, job->output, job->force);
    if (status == 0) {
        out_file_sweep(out);
    }
    return status;
}

void import_ignore_target(const struct import_job *job, struct term *term) {
    if (job->has_target && job->target != 0) {
        term_say(term, "a store holds one machine: --target is ignored");
    }
}

// Loads everything into the temporary file. With DONE and FAULTS there is a store to keep.
static enum outcome fill_store(const struct import_job *job, struct term *term,
                               const struct out_file *out) {
    struct import import;
    enum outcome status = import_open(&import, out->temp, &job->load, term);
    if (status != 0) {
        return status;
    }
    int held = out_file_hold(out);
    import.quiet = job->quiet;
    status = import_files(&import, job);
    if (status <= OUTCOME_FAULTS) {
        enum outcome r = import_finish(&import);
        status = r ?: status;
    }
    import_abandon(&import);
    close(held);
    return status;
}

enum outcome import_create(const struct import_job *job, struct term *term) {
    struct out_file out;
    if (job->file_count == 0 || !job->output) {
        term_say(term, "create needs %s",
                 job->output ? "files to load: -n FILE..." : "a store to make: -o STORE");
        return arguments_refuse(term);
    }
    if (job->input) {
        term_say(term, "create makes a new store; it takes no -i");
        return arguments_refuse(term);
    }
    enum outcome status = import_begin_output(job, false, &out, term);
    if (status != 0) {
        return status;
    }
    import_ignore_target(job, term);
    status = fill_store(job, term, &out);
    if (status <= OUTCOME_FAULTS) {
        enum outcome r = out_file_publish(&out, term);
        return r ?: status;
    }
    out_file_discard(&out);
    return status;
}
