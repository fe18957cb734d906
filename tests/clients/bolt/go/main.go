// Neo4j's Go driver against a server: check bolt://host:port GRAPH. With VARVE_USER and
// VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Prints 'N passed, N failed'.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

var passed, failed int

func check(name string, got, wanted any) {
	if reflect.DeepEqual(got, wanted) {
		passed++
		return
	}
	failed++
	fmt.Printf("FAILED %s: %v, not %v\n", name, got, wanted)
}

func codeOf(err error) string {
	var refused *neo4j.Neo4jError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

func main() {
	bolt, graph := os.Args[1], os.Args[2]
	token := neo4j.NoAuth()
	if user := os.Getenv("VARVE_USER"); user != "" {
		token = neo4j.BasicAuth(user, os.Getenv("VARVE_PASSWORD"), "")
	}
	for _, uri := range []string{strings.Replace(bolt, "bolt:", "neo4j:", 1), bolt} {
		if err := checks(uri, graph, token); err != nil {
			check(uri, err, nil)
		}
	}
	fmt.Printf("neo4j-go-driver: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func checks(uri, graph string, token neo4j.AuthToken) error {
	ctx := context.Background()
	driver, err := neo4j.NewDriverWithContext(uri, token)
	if err != nil {
		return err
	}
	defer driver.Close(ctx)
	if err := driver.VerifyConnectivity(ctx); err != nil {
		return err
	}
	one := func(query string, parameters map[string]any) (any, error) {
		result, err := neo4j.ExecuteQuery(ctx, driver, query, parameters,
			neo4j.EagerResultTransformer, neo4j.ExecuteQueryWithDatabase(graph))
		if err != nil {
			return nil, err
		}
		if len(result.Records) == 0 {
			return nil, nil
		}
		return result.Records[0].Values[0], nil
	}
	if _, err := one("MATCH (n) DETACH DELETE n", nil); err != nil {
		return err
	}
	at := time.Date(2024, 2, 29, 12, 0, 0, 5, time.UTC)
	sent := map[string]any{"null": nil, "list": []any{int64(1), 2.5, "x", true}, "at": at}
	got, err := one("RETURN $p", map[string]any{"p": sent})
	if err != nil {
		return err
	}
	echoed := got.(map[string]any)
	check("a list", echoed["list"], sent["list"])
	check("a time", echoed["at"].(time.Time).Equal(at), true)
	made, err := one("CREATE (a:A:B {name: 'Ann'})-[:KNOWS]->(:A) RETURN a", nil)
	if err != nil {
		return err
	}
	check("labels", made.(neo4j.Node).Labels, []string{"A", "B"})
	name, err := one("MATCH (n) WHERE elementId(n) = $id RETURN n.name",
		map[string]any{"id": made.(neo4j.Node).ElementId})
	check("a node by its id", name, "Ann")
	if err != nil {
		return err
	}
	_, err = one("RETURN x", nil)
	check("no such variable", codeOf(err), "Neo.ClientError.Statement.SyntaxError")
	return transactions(ctx, driver, graph, one)
}

func transactions(ctx context.Context, driver neo4j.DriverWithContext, graph string,
	one func(string, map[string]any) (any, error)) error {
	session := driver.NewSession(ctx, neo4j.SessionConfig{DatabaseName: graph, FetchSize: 100})
	defer session.Close(ctx)
	own, err := session.BeginTransaction(ctx)
	if err != nil {
		return err
	}
	if _, err := own.Run(ctx, "UNWIND range(1, 1000) AS i CREATE (:Gone {i: i})", nil); err != nil {
		return err
	}
	result, err := own.Run(ctx, "MATCH (n:Gone) RETURN n.i AS i", nil)
	if err != nil {
		return err
	}
	records, err := result.Collect(ctx)
	if err != nil {
		return err
	}
	check("its own changes, in pages", len(records), 1000)
	if err := own.Rollback(ctx); err != nil {
		return err
	}
	count, err := one("MATCH (n:Gone) RETURN count(n)", nil)
	if err != nil {
		return err
	}
	check("nothing is left", count, int64(0))
	if _, err := one("CREATE (:Counter {n: 0})", nil); err != nil {
		return err
	}
	var group sync.WaitGroup
	problems := make(chan error, 10)
	for range [2]int{} {
		group.Add(1)
		go func() {
			defer group.Done()
			writer := driver.NewSession(ctx, neo4j.SessionConfig{DatabaseName: graph})
			defer writer.Close(ctx)
			for range [5]int{} {
				_, err := writer.ExecuteWrite(ctx, func(own neo4j.ManagedTransaction) (any, error) {
					return own.Run(ctx, "MATCH (c:Counter) SET c.n = c.n + 1", nil)
				})
				if err != nil {
					problems <- err
				}
			}
		}()
	}
	group.Wait()
	check("conflicts are tried again", len(problems), 0)
	count, err = one("MATCH (c:Counter) RETURN c.n", nil)
	check("no change is lost", count, int64(10))
	return err
}
