// SPDX-License-Identifier: Apache-2.0
//
// The command create: files into a new store. It also has what the commands share: beginning the
// output, and loading files one after the other into whatever is open.
#include "client/import/import_job.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/common/out_file.h"

enum outcome import_file(struct import *import, const char *path, bool *loaded) {
    struct input input;
    int result = input_open(&input, path);
    *loaded = result == 0;
    if (result == INPUT_IS_FOLDER) {
        term_say(import->term, "%s is a folder: name its files, or use 'nvtxt-import collect'",
                 input.name);
    } else if (result != 0) {
        term_say(import->term, "%s: %s", input.name, input_why(result));
    }
    if (result != 0) {
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
        enum outcome result = import_file(import, job->files[i], &loaded);
        if (result > OUTCOME_FAULTS) {
            return result;
        }
        any |= loaded;
        status = result > status ? result : status;
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
    if (status == 0) {
        status = out_file_init(out, term, job->output, job->force);
    }
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
static enum outcome fill(const struct import_job *job, struct term *term,
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
        enum outcome result = import_finish(&import);
        status = result ? result : status;
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
    status = fill(job, term, &out);
    if (status <= OUTCOME_FAULTS) {
        enum outcome result = out_file_publish(&out, term);
        return result ? result : status;
    }
    out_file_discard(&out);
    return status;
}
