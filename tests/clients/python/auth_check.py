"""The auth calls of the published Python client, as the administrator of a server with authentication on."""

import logging
import sys

from check import Checks
from pyhugegraph.client import PyHugeClient
from pyhugegraph.utils.exceptions import NotAuthorizedError, NotFoundError, ServerError


class Scenario:
    """One administrator, and the steps in order."""

    def __init__(self, url, name, password):
        self.url = url
        self.checks = Checks()
        self.client = self.connect(name, password)
        self.auth = self.client.auth()

    def connect(self, name, password):
        # It asks for the version once, for half a second, and goes on without.
        for _ in range(20):
            client = PyHugeClient(url=self.url, graph="hugegraph", user=name, pwd=password, timeout=(60.0, 60.0))
            if client.cfg.version:
                break
        return client

    def run(self):
        for body in (self.users, self.groups, self.targets, self.belongs, self.accesses, self.rights, self.removal):
            self.checks.step(body)
        print(f"{self.checks.passed} passed, {self.checks.failed} failed")
        return self.checks.failed == 0

    def users(self):
        made = self.auth.create_user("ann", "ann's password", user_email="ann@example.org")
        self.user = made["id"]
        self.checks.equal("name", "ann", made["user_name"])
        self.checks.equal("read", "ann@example.org", self.auth.get_user(self.user)["user_email"])
        self.checks.equal("changed", "1", self.auth.modify_user(self.user, user_phone="1")["user_phone"])
        names = [user["user_name"] for user in self.auth.list_users()["users"]]
        self.checks.equal("listed", ["admin", "ann"], sorted(names))
        self.checks.equal("a limit", 1, len(self.auth.list_users(limit=1)["users"]))
        self.checks.refused("an unknown one", NotFoundError, "find user with id", self.auth.get_user, "fake")
        self.checks.refused("the same name", ServerError, "already exists", self.auth.create_user, "ann", "secret")

    def groups(self):
        self.group = self.auth.create_group("readers", "they read")["id"]
        self.checks.equal("read", "readers", self.auth.get_group(self.group)["group_name"])
        changed = self.auth.modify_group(self.group, group_description="new")
        self.checks.equal("changed", "new", changed["group_description"])
        self.checks.equal("listed", 1, len(self.auth.list_groups()["groups"]))

    def targets(self):
        resources = [{"type": "VERTEX", "label": "*", "properties": None}]
        made = self.auth.create_target("all", "hugegraph", "127.0.0.1:8080", resources)
        self.target = made["id"]
        self.checks.equal("read", "all", self.auth.get_target(self.target)["target_name"])
        resources = [{"type": "ALL", "label": "*", "properties": None}]
        changed = self.auth.update_target(self.target, "all", "hugegraph", "elsewhere", resources)
        self.checks.equal("changed", "elsewhere", changed["target_url"])
        self.checks.equal("listed", 1, len(self.auth.list_targets()["targets"]))

    def belongs(self):
        self.belong = self.auth.create_belong(self.user, self.group)["id"]
        self.checks.equal("read", self.group, self.auth.get_belong(self.belong)["group"])
        changed = self.auth.update_belong(self.belong, "new")
        self.checks.equal("changed", "new", changed["belong_description"])
        self.checks.equal("listed", 1, len(self.auth.list_belongs()["belongs"]))

    def accesses(self):
        self.access = self.auth.grant_accesses(self.group, self.target, "READ")["id"]
        self.checks.equal("read", "READ", self.auth.get_accesses(self.access)["access_permission"])
        changed = self.auth.modify_accesses(self.access, "new")
        self.checks.equal("changed", "new", changed["access_description"])
        self.checks.equal("listed", 1, len(self.auth.list_accesses()["accesses"]))

    def rights(self):
        ann = self.connect("ann", "ann's password")
        self.checks.equal("the graph is seen", True, "hugegraph" in ann.graphs().get_all_graphs())
        self.checks.equal("the schema is read", True, "propertykeys" in ann.schema().getSchema())
        self.checks.refused("a write", Exception, "Permission denied", ann.schema().propertyKey("no").asText().create)
        wrong = self.connect("ann", "wrong")
        self.checks.refused("a wrong password", NotAuthorizedError, "", wrong.graphs().get_all_graphs)

    def removal(self):
        self.auth.revoke_accesses(self.access)
        self.auth.delete_belong(self.belong)
        self.auth.delete_target(self.target)
        self.auth.delete_group(self.group)
        self.auth.delete_user(self.user)
        self.checks.equal("no accesses", 0, len(self.auth.list_accesses()["accesses"]))
        self.checks.equal("no belongs", 0, len(self.auth.list_belongs()["belongs"]))
        self.checks.equal("no targets", 0, len(self.auth.list_targets()["targets"]))
        self.checks.equal("no groups", 0, len(self.auth.list_groups()["groups"]))
        self.checks.equal("one user", 1, len(self.auth.list_users()["users"]))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # refusals are expected; the client logs each
    sys.exit(0 if Scenario(*sys.argv[1:4]).run() else 1)
