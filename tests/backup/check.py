"""Backups to a bucket of moto: put, listed, restored, removed, cut, damaged. What is in the bucket is read by boto3.

check.py VARVE    the program
"""

import base64, hashlib, json, logging, os, pathlib, random, re, shutil, subprocess, sys, tempfile, time, urllib.error, urllib.request

import boto3
from moto.server import ThreadedMotoServer

varve = os.path.abspath(sys.argv[1])
folder = pathlib.Path(tempfile.mkdtemp(prefix="varve-backup-"))
SECRET = "the-secret-key-of-this-test"
os.environ.update(AWS_ACCESS_KEY_ID="an-id", AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION="us-east-1", AWS_DEFAULT_REGION="us-east-1")
said = ""  # all that the program wrote


def run(*arguments, code=0):
    """Runs the program, which must end with this code; what it wrote."""
    global said
    done = subprocess.run([varve, *map(str, arguments)], capture_output=True, text=True)
    text = done.stdout + done.stderr
    said += text
    assert done.returncode == code, f"{arguments}: {done.returncode}: {text}"
    return text


class Server:
    """A server on a data folder, with options and variables."""

    def __init__(self, data, *options, **variables):
        self.log = open(folder / "server.log", "a+")
        start = self.log.seek(0, os.SEEK_END)
        sets = [word for option in options for word in ("--set", option)]
        self.process = subprocess.Popen(
            [varve, "serve", "--listen", "127.0.0.1:0", "--data-dir", data, *sets],
            stdout=self.log, stderr=self.log, env=os.environ | variables)
        for _ in range(600):
            self.log.seek(start)
            found = re.search(r"serves on (http://[0-9.:]+)", self.log.read())
            if found:
                self.url = found[1]
                return
            assert self.process.poll() is None, "the server ended"
            time.sleep(0.1)
        raise AssertionError("the server did not start")

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, headers={"content-type": "application/json"})
        with urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()) as answer:
            text = answer.read().decode()
        return json.loads(text) if text else None

    def vertices(self, scope=""):
        return self.ask("GET", f"/graphs/hugegraph/graph/vertices?limit=10000{scope}")

    def kill(self):
        self.process.kill()
        self.process.wait()


def put(server, ids, length):
    """Vertices with texts that hardly compress."""
    text = lambda: base64.b64encode(random.randbytes(length)).decode()
    vertices = [{"label": "v", "id": number, "properties": {"text": text()}} for number in ids]
    for at in range(0, len(vertices), 500):
        server.ask("POST", "/graphs/hugegraph/graph/vertices/batch", vertices[at:at + 500])


def make_schema(server):
    schema = "/graphs/hugegraph/schema"
    server.ask("POST", f"{schema}/propertykeys", {"name": "text", "data_type": "TEXT"})
    server.ask("POST", f"{schema}/vertexlabels", {"name": "v", "id_strategy": "CUSTOMIZE_NUMBER", "properties": ["text"]})


def keys(part):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="backups", Prefix=f"of/varve/{part}/")
    return {item["Key"].rsplit("/", 1)[1]: item for page in pages for item in page.get("Contents", [])}


def read(part, name):
    return s3.get_object(Bucket="backups", Key=f"of/varve/{part}/{name}")["Body"].read()


def files_of(manifest):
    """The checksums and lengths of a manifest's files."""
    lines = [line.split(" ", 3) for line in read("manifests", manifest).decode().splitlines()]
    return {line[1]: int(line[2]) for line in lines if line[0] == "file"}


logging.getLogger("werkzeug").setLevel(logging.ERROR)
moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
moto.start()
host, port = moto.get_host_and_port()
endpoint = f"http://{host}:{port}"
s3 = boto3.client("s3", endpoint_url=endpoint)
server = None
try:
    store = ["backup.to=s3://backups/of/varve", f"backup.endpoint={endpoint}"]
    sets = [word for option in store for word in ("--set", option)]
    data = folder / "data"
    server = Server(data, *store, "backup.keep=3")
    make_schema(server)
    put(server, range(2_000), 12_000)
    text = run("backup", "--server", server.url, code=1)
    assert "NoSuchBucket" in text, text
    s3.create_bucket(Bucket="backups")

    # Each file is kept once, under the checksum of its content; a long one came in parts.
    taken = []
    for round in range(3):
        put(server, range(3_000 + round * 10, 3_010 + round * 10), 100)
        result = json.loads(run("backup", "--server", server.url).split("backup: ")[1])
        taken.append((result, server.vertices()))
    files, manifests = keys("files"), keys("manifests")
    assert set(manifests) == {backup["name"] for backup, _ in taken}
    for name, item in files.items():
        assert hashlib.sha256(read("files", name)).hexdigest() == name
    longest = max(files.values(), key=lambda item: item["Size"])
    assert longest["Size"] > 9 << 20 and "-" in longest["ETag"], longest
    named = {}
    for backup, _ in taken:
        of_this = files_of(backup["name"])
        assert sum(of_this.values()) <= backup["bytes"]
        named |= of_this
    assert named == {name: item["Size"] for name, item in files.items()}
    assert taken[1][0]["new_bytes"] < taken[1][0]["bytes"] / 10, taken[1][0]
    print(f"{len(taken)} backups, {len(files)} files, {sum(named.values())} bytes: each kept once, the longest in parts")

    # What the server tells and what the program lists.
    status = server.ask("GET", "/admin/backups")
    assert [backup["name"] for backup in status["backups"]] == sorted(manifests, reverse=True)
    assert status["to"] == "s3://backups/of/varve" and status["stored_bytes"] == sum(named.values())
    said += json.dumps(status)
    listed = run("backups", *sets)
    assert all(name in listed for name in manifests) and "3 backups" in listed
    server.kill()

    # Every backup is restored as it was.
    for at, (backup, then) in enumerate(taken):
        restored = folder / f"restored-{at}"
        run("restore", "s3://backups/of/varve", "--at", backup["name"], "--data-dir", restored, *sets)
        server = Server(restored)
        assert server.vertices() == then
        server.kill()
    print(f"{len(taken)} backups are restored as they were")

    # Cut while it is sent, twice; the next one is whole, and the oldest is removed with its own files.
    for point in ("backup.store:kill:2", "backup.named:kill"):
        server = Server(data, *store, "backup.keep=3", VARVE_FAIL_POINT=point)
        put(server, range(5_000, 5_500), 100)
        try:
            server.ask("POST", "/admin/backup", {})
        except (urllib.error.URLError, ConnectionError):
            pass  # It may be gone before it answers.
        assert server.process.wait() == -9 and set(keys("manifests")) == set(manifests)
    server = Server(data, *store, "backup.keep=3")
    last = json.loads(run("backup", "--server", server.url).split("backup: ")[1])
    then = server.vertices()
    server.kill()
    left = keys("manifests")
    assert set(left) == {taken[1][0]["name"], taken[2][0]["name"], last["name"]}
    named = {}
    for name in left:
        named |= files_of(name)
        run("restore", "--check", "s3://backups/of/varve", "--at", name, *sets)
    assert set(named) == set(keys("files"))
    run("restore", "s3://backups/of/varve", "--data-dir", folder / "latest", *sets)
    server = Server(folder / "latest")
    assert server.vertices() == then
    server.kill()
    print("two cut backups left nothing to see; the next is whole; the oldest went with its files")

    # Offline, to a place of its own.
    run("backup", "s3://backups/of/other", "--data-dir", data, *sets)
    run("restore", "--check", "s3://backups/of/other", *sets)

    # Damage is named.
    digits = max(files_of(last["name"]).items(), key=lambda item: item[1])[0]
    key = f"of/varve/files/{digits}"
    good = read("files", digits)
    s3.put_object(Bucket="backups", Key=key, Body=good[:-1] + bytes([good[-1] ^ 1]))
    text = run("restore", "--check", "s3://backups/of/varve", *sets, code=1)
    assert digits in text and "damaged" in text and "graphs/hugegraph/" in text, text
    s3.delete_object(Bucket="backups", Key=key)
    text = run("restore", "--check", "s3://backups/of/varve", *sets, code=1)
    assert digits in text, text
    print("damage and loss are named")

    # The secret is nowhere.
    said += run("config", *sets) + (folder / "server.log").read_text()
    assert SECRET not in said
    for path in [*data.rglob("*"), folder / "server.log"]:
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    print("the secret was not written")
finally:
    if server:
        server.kill()
    moto.stop()
    shutil.rmtree(folder, ignore_errors=True)
