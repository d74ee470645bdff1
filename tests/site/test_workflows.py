"""The workflow files call what there is, with pinned actions and no more rights than they need."""

import re
from importlib.metadata import metadata

import pytest
import yaml
from site_visits import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
# Who may write what; all others may read the repository.
MAY_WRITE = {
    ("book", "publish"): {"contents"},
    ("book", "preview"): {"contents"},
    ("preview_end", "remove"): {"contents"},
    ("weekly", "report"): {"issues"},
}


def jobs():
    return [
        pytest.param(file, name, job, id=f"{file.stem}: {name}")
        for file in WORKFLOWS
        for name, job in read(file)["jobs"].items()
    ]


def read(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_reads_only_and_runs_once_at_a_time(file):
    workflow = read(file)
    assert workflow["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow
    assert "pull_request_target" not in workflow[True]  # `on`, which YAML takes for a truth value
    uses = [line.strip(" -") for line in file.read_text().splitlines() if "uses:" in line]
    assert [line for line in uses if not PINNED.fullmatch(line)] == []


@pytest.mark.parametrize(("file", "name", "job"), jobs())
def test_a_job_has_the_rights_it_needs_and_ends(file, name, job):
    rights = {what for what, right in job.get("permissions", {}).items() if right == "write"}
    assert rights == MAY_WRITE.get((file.stem, name), set())
    assert job["timeout-minutes"] <= 90
    for command in commands(job):
        assert "${{" not in command, "a text from outside would be run as code: use env"
    if not rights:
        checkouts = [s for s in job["steps"] if s.get("uses", "").startswith("actions/checkout")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize(("file", "name", "job"), jobs())
def test_what_a_job_calls_is_there(file, name, job):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*?## ", makefile, re.MULTILINE))
    for command in commands(job):
        for target in re.findall(r"\bmake ([a-z-]+)", command):
            assert target in targets
        for path in re.findall(r"(?:python3? |-r )([\w./-]+\.\w+)", command):
            assert (ROOT / path).is_file(), path
        for folder in re.findall(r" (chapters|tests/\w+)\b", command):
            assert (ROOT / folder).is_dir()


def test_something_is_called():
    text = "\n".join(command for job in jobs() for command in commands(job.values[2]))
    for target in ("lint", "test", "assignments", "publish"):
        assert f"make {target} " in text
    assert "tools/push_pages.py" in text
    assert "--nbval" in text


def test_writing_jobs_leave_strangers_out():
    found = read(ROOT / ".github" / "workflows" / "book.yml")["jobs"]
    assert "github.ref == 'refs/heads/main'" in found["publish"]["if"]
    assert "head.repo.full_name == github.repository" in found["preview"]["if"]
    assert all("check" in found[name]["needs"] for name in ("publish", "preview"))


def test_the_weekly_run_reports_failures_alone():
    weekly = read(ROOT / ".github" / "workflows" / "weekly.yml")
    assert weekly["jobs"]["report"]["if"] == "failure()"
    assert weekly[True]["schedule"]


def test_the_weekly_run_installs_what_its_tests_import():
    """Of all extras but the course's: its tests are not among those that run there."""
    weekly = (ROOT / ".github" / "workflows" / "weekly.yml").read_text(encoding="utf-8")
    (install,) = re.findall(r'-e "\.\[(.*)\]"', weekly)
    extras = set(metadata("minitransformer").get_all("Provides-Extra"))
    assert set(install.split(",")) == extras - {"course"}


def test_dependabot_leaves_jupyter_book_below_2():
    updates = read(ROOT / ".github" / "dependabot.yml")["updates"]
    ecosystems = {update["package-ecosystem"]: update for update in updates}
    assert set(ecosystems) == {"pip", "github-actions"}
    ignored = {i["dependency-name"]: i["versions"] for i in ecosystems["pip"]["ignore"]}
    assert ignored == {"jupyter-book": [">=2"]}
