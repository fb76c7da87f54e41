# SPDX-License-Identifier: Apache-2.0
# Tests of daemon/; see Makefile.am for what a line looks like.

EXTRA_DIST += e2e/lib.py e2e/manager.py
python_tests += e2e/test_activation.py
python_tests += e2e/test_reload.py
python_tests += e2e/test_rotation.py
python_tests += e2e/test_snapshot.py
python_tests += e2e/test_permissions.py
python_tests += e2e/test_plain.py
python_tests += e2e/test_watch.py
python_tests += e2e/test_session.py
python_tests += e2e/test_shutdown.py
python_tests += e2e/test_control.py
python_tests += e2e/test_control_commands.py
python_tests += e2e/test_tail.py
python_tests += e2e/test_top.py
python_tests += e2e/test_startup.py
python_tests += e2e/test_backpressure.py
python_tests += e2e/test_bad_peers.py
python_tests += e2e/test_faults.py
python_tests += e2e/test_quota.py
python_tests += e2e/test_hostile.py
python_tests += e2e/test_hundred_sources.py
unit_programs += unit/test_clocks
unit_programs += unit/test_conf
unit_programs += unit/test_ctlmsg
unit_programs += unit/test_leftover
unit_programs += unit/test_log
unit_programs += unit/test_listener
unit_programs += unit/test_losses
unit_programs += unit/test_outq
unit_programs += unit/test_peer
unit_programs += unit/test_quota
unit_programs += unit/test_rates
unit_programs += unit/test_refusals
unit_programs += unit/test_watch_io
plain_programs += plain/thread_bqueue
