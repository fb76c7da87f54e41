# SPDX-License-Identifier: Apache-2.0
# Tests of client/nvtx; see Makefile.am for what a line looks like.
helper_programs += nvtx/run_client
nvtx_run_client_LDADD = $(top_builddir)/lib/libnvtxt.la -lpthread
python_tests += e2e/test_nvtx_run.py
