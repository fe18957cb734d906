package varve.clients;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.apache.hugegraph.driver.AuthManager;
import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.structure.auth.Access;
import org.apache.hugegraph.structure.auth.AuthElement;
import org.apache.hugegraph.structure.auth.Belong;
import org.apache.hugegraph.structure.auth.Group;
import org.apache.hugegraph.structure.auth.HugePermission;
import org.apache.hugegraph.structure.auth.HugeResource;
import org.apache.hugegraph.structure.auth.HugeResourceType;
import org.apache.hugegraph.structure.auth.Login;
import org.apache.hugegraph.structure.auth.Project;
import org.apache.hugegraph.structure.auth.Target;
import org.apache.hugegraph.structure.auth.TokenPayload;
import org.apache.hugegraph.structure.auth.User;

/** The auth areas of the client, as the administrator of a server with authentication on. */
final class AuthChecks {

    private static final String BASIC_REFUSED = "Only HTTP Bearer authentication is supported";

    private final Checks checks;
    private final HugeClient client;
    private final AuthManager auth;
    private final String name;
    private final String password;

    AuthChecks(Checks checks, HugeClient client, String name, String password) {
        this.checks = checks;
        this.client = client;
        this.auth = client.auth();
        this.name = name;
        this.password = password;
    }

    void run() {
        this.auth.deleteAll();
        steps("target", this::createTarget, this::refuseTarget, this::getTarget, this::listTargets,
              this::updateTarget, this::deleteTarget);
        steps("group", this::createGroup, this::refuseGroup, this::listGroups, this::updateGroup,
              this::deleteGroup);
        steps("user", this::createUser, this::refuseUser, this::listUsers, this::updateUser,
              this::deleteUser, this::role);
        steps("belong", this::createBelong, this::refuseBelong, this::listBelongs,
              this::updateBelong, this::deleteBelong);
        steps("access", this::createAccess, this::refuseAccess, this::listAccesses,
              this::updateAccess, this::deleteAccess);
        steps("project", this::createProject, this::refuseProject, this::listProjects,
              this::updateProject, this::graphsOfProject, this::deleteProject);
        steps("login", this::login, this::refuseLogin);
        steps("token", this::verify, this::refuseToken);
        steps("logout", this::logout, this::refuseLogout);
        this.auth.deleteAll();
    }

    private void steps(String area, Checks.Step... steps) {
        for (int i = 0; i < steps.length; i++) {
            this.checks.step(area + " " + (i + 1), steps[i]);
            this.auth.deleteAll();
        }
    }

    private Target target(String name, HugeResource... resources) {
        Target target = new Target();
        target.name(name);
        target.graph("hugegraph");
        target.url("127.0.0.1:8080");
        target.resources(resources);
        return target;
    }

    private Group group(String name) {
        Group group = new Group();
        group.name(name);
        group.description("group " + name);
        return this.auth.createGroup(group);
    }

    private User user(String name) {
        User user = new User();
        user.name(name);
        user.password("p1");
        return this.auth.createUser(user);
    }

    private static <T extends AuthElement> List<Object> ids(List<T> elements) {
        return elements.stream().map(AuthElement::id).collect(Collectors.toList());
    }

    private <T extends AuthElement> void listed(String kind, List<T> all, List<T> two,
                                                Function<T, String> nameOf) {
        Set<String> names = all.stream().map(nameOf).collect(Collectors.toSet());
        this.checks.holds("all " + kind + " are listed: " + names,
                          names.containsAll(Set.of("a", "b", "c")));
        this.checks.equal("a limit", 2, two.size());
    }

    private void made(AuthElement element) {
        this.checks.holds("an id", element.id() != null);
        this.checks.equal("creator", this.name, element.creator());
        this.checks.holds("times", element.createTime() != null && element.updateTime() != null);
    }

    private void createTarget() {
        HugeResource person = new HugeResource(HugeResourceType.VERTEX, "person",
                                               Map.of("city", "Oslo", "age", "P.gte(18)"));
        Target made = this.auth.createTarget(target("t1", person));
        made(made);
        this.checks.equal("name", "t1", made.name());
        this.checks.equal("graph", "hugegraph", made.graph());
        this.checks.equal("url", "127.0.0.1:8080", made.url());
        this.checks.equal("resources", List.of(person), made.resources());
        Target all = this.auth.createTarget(target("t2", new HugeResource(HugeResourceType.ALL)));
        this.checks.equal("one resource", HugeResourceType.ALL, all.resource().resourceType());
    }

    private void refuseTarget() {
        this.auth.createTarget(target("t1", new HugeResource(HugeResourceType.ALL)));
        this.checks.refused("the same name", 400, "Can't save target", () ->
                this.auth.createTarget(target("t1", new HugeResource(HugeResourceType.ALL))));
        this.checks.refused("no name", 400, "The name of target can't be null", () ->
                this.auth.createTarget(new Target()));
        Target target = new Target();
        target.name("t2");
        this.checks.refused("no graph", 400, "The graph of target can't be null", () ->
                this.auth.createTarget(target));
        target.graph("hugegraph");
        this.checks.refused("no url", 400, "The url of target can't be null", () ->
                this.auth.createTarget(target));
    }

    private void getTarget() {
        Target made = this.auth.createTarget(target("t1", new HugeResource(HugeResourceType.VAR)));
        Target got = this.auth.getTarget(made.id());
        this.checks.equal("name", "t1", got.name());
        this.checks.equal("by the element", made.id(), this.auth.getTarget(made).id());
        this.checks.refused("an unknown one", 404, "Can't find target with id 'fake'", () ->
                this.auth.getTarget("fake"));
    }

    private void listTargets() {
        for (String name : List.of("a", "b", "c")) {
            this.auth.createTarget(target(name, new HugeResource(HugeResourceType.ALL)));
        }
        listed("targets", this.auth.listTargets(), this.auth.listTargets(2), Target::name);
    }

    private void updateTarget() {
        Target made = this.auth.createTarget(target("t1", new HugeResource(HugeResourceType.VAR)));
        made.resources(new HugeResource(HugeResourceType.EDGE), new HugeResource(HugeResourceType.TASK));
        made.url("elsewhere:1");
        Target changed = this.auth.updateTarget(made);
        this.checks.equal("url", "elsewhere:1", changed.url());
        this.checks.equal("resources", 2, changed.resources().size());
        this.checks.equal("since", made.createTime(), changed.createTime());
        made.graph("other");
        this.checks.refused("another graph", 400, "The graph of target can't be updated", () ->
                this.auth.updateTarget(made));
    }

    private void deleteTarget() {
        Target made = this.auth.createTarget(target("t1", new HugeResource(HugeResourceType.VAR)));
        this.auth.deleteTarget(made.id());
        this.checks.refused("a deleted one", 404, "Can't find target", () ->
                this.auth.getTarget(made.id()));
        this.checks.refused("an unknown one", 400, "Invalid target id: fake", () ->
                this.auth.deleteTarget("fake"));
    }

    private void createGroup() {
        Group made = group("g1");
        made(made);
        this.checks.equal("name", "g1", made.name());
        this.checks.equal("description", "group g1", made.description());
        this.checks.equal("read", "g1", this.auth.getGroup(made.id()).name());
    }

    private void refuseGroup() {
        group("g1");
        this.checks.refused("the same name", 400, "Can't save group", () -> group("g1"));
        this.checks.refused("no name", 400, "The name of group can't be null", () ->
                this.auth.createGroup(new Group()));
        this.checks.refused("an unknown one", 404, "Can't find group with id 'fake'", () ->
                this.auth.getGroup("fake"));
    }

    private void listGroups() {
        List.of("a", "b", "c").forEach(this::group);
        listed("groups", this.auth.listGroups(), this.auth.listGroups(2), Group::name);
    }

    private void updateGroup() {
        Group made = group("g1");
        made.description("new");
        this.checks.equal("description", "new", this.auth.updateGroup(made).description());
        made.name("g2");
        this.checks.refused("another name", 400, "The name of group can't be updated", () ->
                this.auth.updateGroup(made));
    }

    private void deleteGroup() {
        Group made = group("g1");
        this.auth.deleteGroup(made.id());
        this.checks.refused("a deleted one", 404, "Can't find group", () ->
                this.auth.getGroup(made.id()));
        this.checks.refused("an unknown one", 400, "Invalid group id: fake", () ->
                this.auth.deleteGroup("fake"));
    }

    private void createUser() {
        User user = new User();
        user.name("u1");
        user.password("p1");
        user.email("u1@example.org");
        user.phone("123");
        user.avatar("u1.png");
        User made = this.auth.createUser(user);
        made(made);
        this.checks.equal("name", "u1", made.name());
        this.checks.holds("the password is not shown", !"p1".equals(made.password()));
        this.checks.equal("email", "u1@example.org", made.email());
        this.checks.equal("phone", "123", made.phone());
        this.checks.equal("avatar", "u1.png", made.avatar());
        this.checks.equal("read", made.password(), this.auth.getUser(made.id()).password());
    }

    private void refuseUser() {
        user("u1");
        this.checks.refused("the same name", 400, "Can't save user", () -> user("u1"));
        this.checks.refused("no name", 400, "The name of user can't be null", () ->
                this.auth.createUser(new User()));
        User user = new User();
        user.name("u2");
        this.checks.refused("no password", 400, "The password of user can't be null", () ->
                this.auth.createUser(user));
        this.checks.refused("the administrator", 400, "Invalid user name 'admin'", () ->
                user("admin"));
        this.checks.refused("an unknown one", 404, "Can't find user with id 'fake'", () ->
                this.auth.getUser("fake"));
    }

    private void listUsers() {
        List.of("a", "b", "c").forEach(this::user);
        listed("users", this.auth.listUsers(), this.auth.listUsers(2), User::name);
    }

    private void updateUser() {
        User made = user("u1");
        String before = made.password();
        made.phone("9");
        User phoned = this.auth.updateUser(made);
        this.checks.equal("phone", "9", phoned.phone());
        phoned.password("p2");
        User changed = this.auth.updateUser(phoned);
        this.checks.holds("another password", !before.equals(changed.password()));
        changed.name("u2");
        this.checks.refused("another name", 400, "The name of user can't be updated", () ->
                this.auth.updateUser(changed));
        try (HugeClient own = as("u1", "p2")) {
            this.checks.equal("comes in", List.of(), own.graphs().listGraph());
        }
        try (HugeClient own = as("u1", "p1")) {
            this.checks.refused("the old password", 401, "Authentication failed", () ->
                    own.graphs().listGraph());
        }
    }

    private void deleteUser() {
        User made = user("u1");
        this.auth.deleteUser(made.id());
        this.checks.refused("a deleted one", 404, "Can't find user", () ->
                this.auth.getUser(made.id()));
        this.checks.refused("an unknown one", 400, "Invalid user id: fake", () ->
                this.auth.deleteUser("fake"));
        this.checks.refused("the administrator", 400, "Can't delete user 'admin'", () ->
                this.auth.deleteUser("-30:admin"));
    }

    private void role() {
        Access access = access(HugePermission.READ);
        User user = user("u1");
        Belong belong = new Belong();
        belong.user(user);
        belong.group(access.group());
        this.auth.createBelong(belong);
        User.UserRole role = this.auth.getUserRole(user.id());
        HugeResource resource = role.roles().get("hugegraph").get(HugePermission.READ).get(0);
        this.checks.equal("the role", HugeResourceType.ALL, resource.resourceType());
        try (HugeClient own = as("u1", "p1")) {
            this.checks.holds("the graph is seen", own.graphs().listGraph().contains("hugegraph"));
            own.graph().listVertices();
            this.checks.refused("a write", 403, "", () ->
                    own.schema().propertyKey("forbidden").asText().create());
        }
    }

    private HugeClient as(String name, String password) {
        return HugeClient.builder(Main.url, "hugegraph").configUser(name, password).build();
    }

    private Belong belong(String user, String group) {
        Belong belong = new Belong();
        belong.user(user(user));
        belong.group(group(group));
        belong.description("b");
        return this.auth.createBelong(belong);
    }

    private void createBelong() {
        Belong made = belong("u1", "g1");
        made(made);
        this.checks.equal("user", "-30:u1", made.user());
        this.checks.equal("group", "-36:g1", made.group());
        this.checks.equal("description", "b", made.description());
        this.checks.equal("read", made.id(), this.auth.getBelong(made.id()).id());
    }

    private void refuseBelong() {
        Belong made = belong("u1", "g1");
        this.checks.refused("the same", 400, "Can't save belong", () ->
                this.auth.createBelong(made));
        Belong belong = new Belong();
        this.checks.refused("no user", 400, "The user of belong can't be null", () ->
                this.auth.createBelong(belong));
        belong.user("fake");
        belong.group(made.group());
        this.checks.refused("an unknown user", 400, "Not exists user 'fake'", () ->
                this.auth.createBelong(belong));
        this.checks.refused("an unknown one", 404, "Can't find belong with id 'fake'", () ->
                this.auth.getBelong("fake"));
    }

    private void listBelongs() {
        Belong first = belong("u1", "g1");
        Belong second = belong("u2", "g2");
        this.checks.equal("all", Set.of(first.id(), second.id()),
                          Set.copyOf(ids(this.auth.listBelongs())));
        this.checks.equal("a limit", 1, this.auth.listBelongs(1).size());
        this.checks.equal("by user", List.of(first.id()),
                          ids(this.auth.listBelongsByUser("-30:u1", -1)));
        this.checks.equal("by group", List.of(second.id()),
                          ids(this.auth.listBelongsByGroup("-36:g2", -1)));
    }

    private void updateBelong() {
        Belong made = belong("u1", "g1");
        made.description("new");
        this.checks.equal("description", "new", this.auth.updateBelong(made).description());
        made.user("other");
        this.checks.refused("another user", 400, "The user of belong can't be updated", () ->
                this.auth.updateBelong(made));
    }

    private void deleteBelong() {
        Belong made = belong("u1", "g1");
        this.auth.deleteBelong(made.id());
        this.checks.equal("none is left", 0, this.auth.listBelongs().size());
        this.checks.refused("an unknown one", 400, "Invalid belong id: fake", () ->
                this.auth.deleteBelong("fake"));
    }

    private Access access(HugePermission permission) {
        Target target = this.auth.createTarget(
                target("t-" + permission, new HugeResource(HugeResourceType.ALL)));
        Access access = new Access();
        access.group(group("g-" + permission));
        access.target(target);
        access.permission(permission);
        access.description("a");
        return this.auth.createAccess(access);
    }

    private void createAccess() {
        Access made = access(HugePermission.READ);
        made(made);
        this.checks.equal("group", "-36:g-READ", made.group());
        this.checks.equal("target", "-44:t-READ", made.target());
        this.checks.equal("permission", HugePermission.READ, made.permission());
        this.checks.equal("read", made.id(), this.auth.getAccess(made.id()).id());
        for (HugePermission other : List.of(HugePermission.WRITE, HugePermission.DELETE,
                                            HugePermission.EXECUTE)) {
            made.permission(other);
            this.checks.equal("permission", other, this.auth.createAccess(made).permission());
        }
    }

    private void refuseAccess() {
        Access made = access(HugePermission.READ);
        this.checks.refused("the same", 400, "Can't save access", () ->
                this.auth.createAccess(made));
        Access access = new Access();
        this.checks.refused("no group", 400, "The group of access can't be null", () ->
                this.auth.createAccess(access));
        access.group(made.group());
        access.target("fake");
        access.permission(HugePermission.READ);
        this.checks.refused("an unknown target", 404, "Can't find target with id 'fake'", () ->
                this.auth.createAccess(access));
        this.checks.refused("an unknown one", 404, "Can't find access with id 'fake'", () ->
                this.auth.getAccess("fake"));
    }

    private void listAccesses() {
        Access first = access(HugePermission.READ);
        Access second = access(HugePermission.WRITE);
        this.checks.equal("all", Set.of(first.id(), second.id()),
                          Set.copyOf(ids(this.auth.listAccesses())));
        this.checks.equal("a limit", 1, this.auth.listAccesses(1).size());
        this.checks.equal("by group", List.of(first.id()),
                          ids(this.auth.listAccessesByGroup(first.group(), -1)));
        this.checks.equal("by target", List.of(second.id()),
                          ids(this.auth.listAccessesByTarget(second.target(), -1)));
    }

    private void updateAccess() {
        Access made = access(HugePermission.READ);
        made.description("new");
        this.checks.equal("description", "new", this.auth.updateAccess(made).description());
        made.permission(HugePermission.WRITE);
        this.checks.refused("another permission", 400, "", () -> this.auth.updateAccess(made));
    }

    private void deleteAccess() {
        Access made = access(HugePermission.READ);
        this.auth.deleteAccess(made.id());
        this.checks.equal("none is left", 0, this.auth.listAccesses().size());
        this.checks.refused("an unknown one", 400, "Invalid access id: fake", () ->
                this.auth.deleteAccess("fake"));
    }

    private void createProject() {
        Project made = this.auth.createProject(new Project("p1", "about p1"));
        made(made);
        this.checks.equal("name", "p1", made.name());
        this.checks.equal("description", "about p1", made.description());
        this.checks.equal("administrators", "-36:admin_p1", made.adminGroup());
        this.checks.equal("operators", "-36:op_p1", made.opGroup());
        this.checks.equal("target", "-44:project_res_p1", made.target());
        this.checks.equal("read", "p1", this.auth.getProject(made.id()).name());
    }

    private void refuseProject() {
        this.auth.createProject(new Project("p1"));
        this.checks.refused("the same name", 400, "", () ->
                this.auth.createProject(new Project("p1")));
        this.checks.refused("no name", 400, "The name of project can't be null", () ->
                this.auth.createProject(new Project()));
        this.checks.refused("an unknown one", 400, "", () -> this.auth.getProject("fake"));
    }

    private void listProjects() {
        for (String name : List.of("a", "b", "c")) {
            this.auth.createProject(new Project(name));
        }
        listed("projects", this.auth.listProjects(), this.auth.listProject(2), Project::name);
    }

    private void updateProject() {
        Project made = this.auth.createProject(new Project("p1", "old"));
        Project changed = this.auth.updateProject(new Project(made.id(), "p1", "new"));
        this.checks.equal("description", "new", changed.description());
    }

    private void graphsOfProject() {
        Project made = this.auth.createProject(new Project("p1"));
        Set<String> graphs = Set.of("g1", "g2");
        this.checks.equal("added", graphs, this.auth.projectAddGraphs(made.id(), graphs).graphs());
        this.checks.refused("one that has graphs", 400, "Can't delete project", () ->
                this.auth.deleteProject(made.id()));
        Project less = this.auth.projectRemoveGraphs(made.id(), Set.of("g1"));
        this.checks.equal("removed", Set.of("g2"), less.graphs());
        this.auth.projectRemoveGraphs(made.id(), Set.of("g2"));
    }

    private void deleteProject() {
        Project made = this.auth.createProject(new Project("p1"));
        this.auth.deleteProject(made.id());
        this.checks.equal("none is left", 0, this.auth.listProjects().size());
        this.checks.equal("no groups", 0, this.auth.listGroups().size());
        this.checks.equal("no targets", 0, this.auth.listTargets().size());
    }

    private String token() {
        Login login = new Login();
        login.name(this.name);
        login.password(this.password);
        return this.auth.login(login).token();
    }

    private void login() {
        String token = token();
        this.checks.holds("a token", token != null && !token.isEmpty());
        this.checks.holds("another one each time", !token.equals(token()));
        user("u1");
        Login login = new Login();
        login.name("u1");
        login.password("p1");
        this.checks.holds("of another user", this.auth.login(login).token() != null);
    }

    private void refuseLogin() {
        Login login = new Login();
        this.checks.refused("no name", 400, "The name of user can't be null", () ->
                this.auth.login(login));
        login.name("nobody");
        this.checks.refused("no password", 400, "The password of user can't be null", () ->
                this.auth.login(login));
        login.password("wrong");
        this.checks.refused("an unknown user", 401, "Incorrect username or password", () ->
                this.auth.login(login));
    }

    private void verify() {
        this.client.setAuthContext("Bearer " + token());
        try {
            TokenPayload payload = this.auth.verifyToken();
            this.checks.equal("name", this.name, payload.username());
            this.checks.equal("id", "-30:" + this.name, payload.userId());
            this.checks.holds("it is used", !this.client.graphs().listGraph().isEmpty());
        } finally {
            this.client.resetAuthContext();
        }
    }

    private void refuseToken() {
        this.checks.refused("a password", 400, BASIC_REFUSED, () -> this.auth.verifyToken());
        this.client.setAuthContext("Bearer qaUAoiZvt.ei");
        try {
            this.checks.refused("no token", 401, "Authentication failed", () ->
                    this.auth.verifyToken());
        } finally {
            this.client.resetAuthContext();
        }
    }

    private void logout() {
        this.client.setAuthContext("Bearer " + token());
        try {
            this.auth.logout();
            this.checks.refused("an ended token", 401, "Authentication failed", () ->
                    this.auth.verifyToken());
        } finally {
            this.client.resetAuthContext();
        }
    }

    private void refuseLogout() {
        this.checks.refused("a password", 400, BASIC_REFUSED, () -> this.auth.logout());
        this.client.setAuthContext("Bearer abc");
        try {
            this.checks.refused("no token", 401, "Authentication failed", () -> this.auth.logout());
        } finally {
            this.client.resetAuthContext();
        }
    }
}
