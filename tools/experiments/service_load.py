#!/usr/bin/env python3
"""Sends many queries to a service over loopback, and prints the load that it bears, as Markdown tables.

usage: tools/experiments/service_load.py PATH-OF-FPDB [FINGERPRINTS-IN-MILLIONS] [SECONDS] [SOAK-MINUTES] [FLAG-OF-SERVE...]

The defaults are 3 million fingerprints, 10 seconds a row and no soak. The documents are random words, 10 kB each, without a common
passage. A query is one of these documents, so it has one match with passages. `wrk` (Debian) sends the queries and shares the processors
with the service. Meanwhile a Python thread sends 20 requests a second, to count answers and refusals. Standard library only.
"""
import http.client
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

QUERY_BYTES = 10_000
# Robust winnowing with w 20 keeps 2 of 21 positions. Five of six bytes are letters, which are symbols.
FINGERPRINTS_PER_DOCUMENT = QUERY_BYTES * 5 / 6 * 2 / 21
BODIES = 200

LUA = """
local bodies = {}
for line in io.lines(os.getenv("BODIES")) do bodies[#bodies + 1] = line end
local turn = 0
request = function()
  turn = turn % #bodies + 1
  return wrk.format("POST", "/v1/query", {["Content-Type"] = "application/json"}, bodies[turn])
end
done = function(summary, latency)
  print(string.format("RESULT %d %d %d %f %f %f %d", summary.requests, summary.duration, summary.errors.status,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


def word(chance):
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=5))


def document(vocabulary, number):
    return " ".join(random.Random(number).choices(vocabulary, k=QUERY_BYTES // 6))


class Service:
    """A service of a database, and a connection to it."""

    def __init__(self, fpdb, database, *flags):
        command = [fpdb, "serve", "--db", database, "--listen", "127.0.0.1:0", "--log-requests", "false", *flags]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.host = line.split("http://")[1].split("/")[0].split()[0]
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=120)
        connection.request(method, path, body, {"Content-Type": "application/json"} if body and path == "/v1/query" else {})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def end(self):
        self.process.terminate()
        return self.process.wait()


class Beside:
    """Calls a function repeatedly in a thread until the `with` block ends."""

    def __init__(self, call):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(call,))

    def run(self, call):
        while not self.ended.is_set():
            call()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def load(service, script, bodies, connections, seconds):
    """Requests a second, errors of all kinds, and the latencies in ms, as wrk counts them."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "60", "-s", script, f"http://{service.host}"]
    out = subprocess.run(command, env={"BODIES": bodies}, capture_output=True, text=True, check=True).stdout
    line = next(line for line in out.splitlines() if line.startswith("RESULT"))
    requests, duration, refused, median, high, highest, broken = map(float, line.split()[1:])
    return (requests - refused) / duration * 1e6, refused, broken, median, high, highest


def main():
    fpdb = str(pathlib.Path(sys.argv[1]).resolve())
    millions = float(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    minutes = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    flags = sys.argv[5:]
    chance = random.Random(7)
    vocabulary = [word(chance) for _ in range(20_000)]
    documents = int(millions * 1e6 / FINGERPRINTS_PER_DOCUMENT)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        database, script, bodies = str(folder / "db"), str(folder / "ask.lua"), str(folder / "bodies")
        lines = folder / "documents.jsonl"
        with lines.open("w") as file:
            for number in range(documents):
                file.write(json.dumps({"id": f"d{number}", "text": document(vocabulary, number)}) + "\n")
        subprocess.run([fpdb, "ingest", "--quiet", "--db", database, "--store-text", "--id-field", "id", lines], check=True)
        lines.unlink()
        pathlib.Path(script).write_text(LUA)
        asked = chance.sample(range(documents), min(BODIES, documents))
        queries = [json.dumps({"text": document(vocabulary, number)}) for number in asked]
        pathlib.Path(bodies).write_text("\n".join(queries) + "\n")

        service = Service(fpdb, database, "--queue", "1024", "--per-key", "1024", "--body-memory", "1073741824", *flags)
        stats = json.loads(service.ask("GET", "/v1/stats")[1])
        print(f"{stats['documents']:,} documents, {stats['fingerprints']:,} fingerprints, queries of 10 kB, {seconds} s a row\n")
        put = 0

        def ingest():
            nonlocal put
            put += 1
            status, _ = service.ask("PUT", f"/v1/documents/new-{put}", document(vocabulary, documents + put).encode())
            assert status == 201, status

        print("| connections | beside | queries/s | median ms | p99 ms | p99.9 ms | refused | broken |\n|--:|---|--:|--:|--:|--:|--:|--:|")
        for beside in (False, True):
            for connections in (1, 16, 256):
                if beside:
                    before = put
                    with Beside(ingest):
                        row = load(service, script, bodies, connections, seconds)
                    what = f"{(put - before) / seconds:.0f} PUT/s"
                else:
                    row, what = load(service, script, bodies, connections, seconds), ""
                rate, refused, broken, *latencies = row
                print(f"| {connections} | {what} | {rate:,.0f} | {' | '.join(f'{value:.2f}' for value in latencies)} | {refused:.0f} | {broken:.0f} |", flush=True)
        if minutes:
            print("\n| minute | resident MiB | queries/s |\n|--:|--:|--:|")
            with Beside(ingest):
                for minute in range(minutes):
                    rate = load(service, script, bodies, 16, 60)[0]
                    print(f"| {minute + 1} | {service.resident():.0f} | {rate:,.0f} |", flush=True)
        assert service.end() == 0

        # With the default queue, and more connections than the service bears.
        service = Service(fpdb, database, "--per-key", "1024", *flags)
        answered, refused = [], []

        def probe():
            begin = time.perf_counter()
            status, _ = service.ask("POST", "/v1/query", queries[0])
            (answered if status == 200 else refused).append((time.perf_counter() - begin) * 1000)
            assert status in (200, 503), status
            time.sleep(0.05)

        print("\n| connections, of the queue of the defaults | answered/s | answered: median, p99 ms | refused | refused: median, p99 ms |\n|--:|--:|--:|--:|--:|")
        for connections in (16, 160, 640):
            answered.clear()
            refused.clear()
            with Beside(probe):
                rate, count, *_ = load(service, script, bodies, connections, seconds)
            texts = [f"{percentile(values, 0.5):.1f}, {percentile(values, 0.99):.1f}" for values in (answered, refused)]
            print(f"| {connections} | {rate:,.0f} | {texts[0]} | {count:.0f} | {texts[1]} |", flush=True)
        assert service.end() == 0


if __name__ == "__main__":
    main()
