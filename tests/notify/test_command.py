# SPDX-License-Identifier: Apache-2.0
"""`everywatt notify test CHANNEL`."""

import pytest
from program import environment, run
from robots import DINGTALK, SLACK, WEBHOOK


@pytest.fixture
def config(tmp_path, robots, write):
    path = tmp_path / "everywatt.toml"
    path.write_text(
        f'[notify.ops]\ntype = "dingtalk"\nurl_file = "{write("ops.url", robots.url(DINGTALK))}"\nlanguage = "zh"\n'
        f'[notify.hook]\ntype = "webhook"\nurl = "{robots.url(WEBHOOK)}"\n'
        '[notify.closed]\ntype = "webhook"\nurl = "http://127.0.0.1:1/"\n'
        '[notify.slack]\ntype = "slack"\nurl_env = "SLACK_URL"\n'
    )
    return path


def test_the_channel_gets_a_made_up_alert(config, robots):
    told = run("notify", "test", "ops", "--config", config, code=0)
    assert told.stdout.startswith("ops: delivered (")
    assert len(robots.taken(DINGTALK)) == 1
    assert run("notify", "test", "hook", "--config", config, "--lang", "zh", code=0).stdout.startswith("hook:已送达")
    assert len(robots.taken(WEBHOOK)) == 1


def test_a_channel_that_refuses_needs_a_look(config, robots):
    robots.answer(DINGTALK, "310000")
    told = run("notify", "test", "ops", "--config", config, code=1)
    assert told.stdout == "" and "310000" in told.stderr
    assert "access_token" not in told.stderr


def test_a_channel_out_of_reach_is_nothing_to_talk_to(config):
    assert "127.0.0.1:1" in run("notify", "test", "closed", "--config", config, code=3).stderr


def test_what_is_missing_here_is_bad_input(config, robots):
    assert "SLACK_URL" in run("notify", "test", "slack", "--config", config, code=2).stderr
    assert run("notify", "test", "slack", "--config", config, code=0,
               env=environment(SLACK_URL=robots.url(SLACK)))  # fmt: skip
    unknown = run("notify", "test", "other", "--config", config, code=2).stderr
    assert "no channel 'other'" in unknown and "ops, hook, closed, slack" in unknown


@pytest.mark.parametrize("words", [[], ["test"], ["try", "ops"], ["test", "ops", "more"]])
def test_words_that_say_nothing_are_bad_usage(config, words):
    told = run("notify", *words, "--config", config, code=2)
    assert told.stderr.count("\n") == 1 and told.stderr.startswith("everywatt: notify: ")
