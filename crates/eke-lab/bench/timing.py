"""What every peer's script shares: one piece of work is read from standard input, done some times, and told as
lines of JSON. `eke-lab bench` starts the scripts; data/ files are its own, the same for everybody.

Nothing but Python's own library is imported here, so that it works in every environment.
"""

import array
import csv
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from importlib import metadata


class Task:
    """One piece of work: its numbers, its files, and how often it is done."""

    def __init__(self, told):
        self.work = told["work"]
        self.folder = told["folder"]
        self.file = told["file"]
        self.repetitions = told["repetitions"]
        self.seconds = told["seconds"]
        self.numbers = told["numbers"]

    def __getitem__(self, name):
        return self.numbers[name]

    def count(self, name):
        return int(self.numbers[name])

    def integers(self, name):
        return self._read(name, "q")

    def floats(self, name):
        return self._read(name, "d")

    def path(self, name):
        return os.path.join(self.folder, name)

    def _read(self, name, code):
        path = self.path(name)
        values = array.array(code)
        with open(path, "rb") as file:
            values.frombytes(file.read())
        if sys.byteorder == "big":
            values.byteswap()
        return values.tolist()

    def truth(self):
        """What a count by city is without privacy."""
        with open(self.path("truth.csv"), newline="") as file:
            rows = csv.reader(file)
            next(rows)
            return {city: int(count) for city, count in rows}

    def cities(self):
        return list(self.truth())


class Way:
    """One way to do a piece of work.

    `run(n)` does it for the first n items and returns what came out; `result` makes the one number of it by which it
    is seen that the work was done; `whole` says that it is not a row of items, and is done whole or not at all;
    `cpu` is off where another process does the work; `alone` gives it a process of its own, whose memory is told.
    """

    def __init__(self, how, items, run, result, whole=False, cpu=True, alone=False):
        self.how, self.items, self.run, self.result = how, items, run, result
        self.whole, self.cpu, self.alone = whole, cpu, alone

    def measured(self, task):
        items, out = self.items, None
        if not self.whole:
            # A first try with few says how many can be done in the time there is; it warms up, too.
            few = max(1, min(self.items, 100))
            start = time.perf_counter()
            self.run(few)
            once = time.perf_counter() - start
            start = time.perf_counter()
            self.run(few)
            each = min(once, time.perf_counter() - start) / few
            while items > few and items * each > task.seconds:
                items //= 10
            items = max(items, few)
        walls, cpus, memory = [], [], None
        begun = time.perf_counter()
        # The first run of work that is done whole warms up, unless it takes all the time there is.
        warm = self.whole and task.repetitions > 1
        while True:
            start, busy = time.perf_counter(), time.process_time()
            out = self.run(items)
            wall, cpu = time.perf_counter() - start, time.process_time() - busy
            # Of the first run: what later ones find left over is not theirs.
            memory = memory or peak()
            if warm and wall < task.seconds:
                warm, begun = False, time.perf_counter()
                continue
            walls.append(wall)
            cpus.append(cpu)
            spent = time.perf_counter() - begun
            if len(walls) >= task.repetitions or spent + statistics.median(walls) > 3 * task.seconds:
                break
        told = {"how": self.how, "items": items, "of": self.items, "seconds": walls}
        if self.cpu:
            told["cpu"] = cpus
        if self.alone:
            told["memory"] = memory
        told["result"] = float(self.result(out))
        return told


def peak():
    """The most bytes of memory that this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def serve(packages, works):
    """Does what standard input asks for, and prints a line for each way of doing it."""
    told = json.load(sys.stdin)
    task = Task(told)
    # What libraries print on their own must not come between.
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(told):
        print(json.dumps(told), file=lines, flush=True)

    def measured(number, way):
        if not way.alone or "way" in told:
            return way.measured(task)
        # The same script, with this way alone.
        text = json.dumps({**told, "way": number})
        child = subprocess.run([sys.executable, *sys.argv], input=text, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(child.stdout.splitlines()[-1])

    versions = {name: metadata.version(name) for name in packages}
    tell({"versions": versions, "python": platform.python_version()})
    for number, way in enumerate(works[task.work](task)):
        if told.get("way", number) != number:
            continue
        try:
            tell(measured(number, way))
        except Exception as error:  # A peer that fails is a line.
            said = str(error).strip() or type(error).__name__
            tell({"how": way.how, "error": said.splitlines()[0]})


def deviation(values, of):
    """The root mean square of what was added."""
    return (sum((a - b) ** 2 for a, b in zip(values, of)) / len(values)) ** 0.5


def absolute(values, of):
    """The mean size of what was added."""
    return sum(abs(a - b) for a, b in zip(values, of)) / len(values)


def off(counts, truth):
    """How far counts by city are from the truth, root mean square."""
    return (sum((counts[city] - truth[city]) ** 2 for city in truth) / len(truth)) ** 0.5
