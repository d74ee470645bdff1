"""Keep what the checks wrote down, as the book's last verified run: make health

`make test` writes a report for each kind of check of each chapter; this merges them into
``book/health.json``, which a build without reports of its own shows. A report of a check that
failed, or of a chapter that has changed since, is refused, and then nothing is written.
"""

import json
import sys

from check_reports import digest
from notebooks import ROOT, chapter_files, write_atomically

sys.path.insert(0, str(ROOT / "book" / "_extensions"))
from health import KEPT, REPORTS, newest, read_kept, read_reports


def refusals(reports, chapters):
    """Why reports are not kept; ``chapters`` are {name: path}."""
    for chapter, kinds in reports.items():
        for kind, facts in kinds.items():
            if chapter not in chapters:
                yield f"{chapter}: there is no such chapter"
            elif facts["failed"]:
                yield f"{chapter}: {kind}: {facts['failed']} failed"
            elif facts["notebook"] != digest(chapters[chapter]):
                yield f"{chapter}: {kind}: the chapter has changed since"


def keep(root):
    """Merge the reports into the last verified run; why not, or an empty list."""
    chapters = {path.stem: path for path in chapter_files(root=root)}
    reports, file = read_reports(root / REPORTS), root / KEPT
    problems = list(refusals(reports, chapters)) if reports else ["no reports: make test"]
    if not problems:
        known = {
            chapter: kinds for chapter, kinds in read_kept(file).items() if chapter in chapters
        }
        text = json.dumps(newest(known, reports), indent=1, sort_keys=True)
        write_atomically(file, text + "\n")
    return problems


if __name__ == "__main__":
    problems = keep(ROOT)
    if problems:
        sys.exit("nothing kept:\n" + "\n".join(problems))
    print(f"kept: {KEPT}")
