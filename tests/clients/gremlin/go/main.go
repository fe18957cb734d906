// gremlin-go against a server that fill.py has filled: main ws://host:port/gremlin
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	gremlingo "github.com/apache/tinkerpop/gremlin-go/v3/driver"
)

var passed, failed int

var anon = gremlingo.T__

func check(name string, run func() error) {
	if err := run(); err != nil {
		failed++
		fmt.Printf("FAILED %s: %v\n", name, err)
		return
	}
	passed++
}

func same(got, wanted any) error {
	if !reflect.DeepEqual(got, wanted) {
		return fmt.Errorf("got %#v, wanted %#v", got, wanted)
	}
	return nil
}

func values(results []*gremlingo.Result, err error) ([]any, error) {
	if err != nil {
		return nil, err
	}
	all := make([]any, len(results))
	for at, result := range results {
		all[at] = result.Data
	}
	return all, nil
}

func list(t *gremlingo.GraphTraversal, wanted ...any) func() error {
	return func() error {
		all, err := values(t.ToList())
		if err != nil {
			return err
		}
		return same(all, wanted)
	}
}

func refused(text string, run func() error) func() error {
	return func() error {
		err := run()
		if err == nil {
			return fmt.Errorf("not refused")
		}
		if !strings.Contains(err.Error(), text) {
			return err
		}
		return nil
	}
}

func traversals(g *gremlingo.GraphTraversalSource) {
	check("values", list(g.V(1).Out("knows").Values("name").Order(), "josh", "vadas"))
	check("count", list(g.V().HasLabel("item").Count(), int64(1000)))
	check("predicate", list(g.V().Has("person", "age", gremlingo.P.Gt(30)).Values("name").Order(), "josh", "peter"))
	check("nested", list(g.V().HasLabel("person").Where(anon.Out("created")).Values("name").Order(), "josh", "marko", "peter"))
	check("order", list(g.V().HasLabel("person").Order().By("age", gremlingo.Order.Desc).Values("age"),
		int32(35), int32(32), int32(29), int32(27)))
	check("vertex", func() error {
		result, err := g.V(1).Next()
		if err != nil {
			return err
		}
		vertex, err := result.GetVertex()
		if err != nil {
			return err
		}
		return same([]any{vertex.Id, vertex.Label}, []any{int64(1), "person"})
	})
	check("path", func() error {
		result, err := g.V(1).As("a").Out("knows").Has("name", "josh").Values("name").Path().Next()
		if err != nil {
			return err
		}
		path, err := result.GetPath()
		if err != nil {
			return err
		}
		return same(path.Objects[2], "josh")
	})
	check("valueMap", func() error {
		result, err := g.V(1).ValueMap().Next()
		if err != nil {
			return err
		}
		entries, ok := result.Data.(map[any]any)
		if !ok {
			return fmt.Errorf("got %#v", result.Data)
		}
		return same(entries["name"], []any{"marko"})
	})
	check("batches", func() error {
		all, err := values(g.V().HasLabel("item").ToList())
		if err != nil {
			return err
		}
		return same(len(all), 1000)
	})
	check("iterate", func() error { return <-g.V().Iterate() })
	check("timeout", refused("evaluationTimeout", func() error {
		_, err := g.With("evaluationTimeout", 50).V().Repeat(anon.Both()).Count().ToList()
		return err
	}))
	check("pipelined", func() error {
		errors := make(chan error, 100)
		for i := 0; i < 100; i++ {
			go func() {
				all, err := values(g.V(1).Values("name").ToList())
				if err == nil {
					err = same(all, []any{"marko"})
				}
				errors <- err
			}()
		}
		for i := 0; i < 100; i++ {
			if err := <-errors; err != nil {
				return err
			}
		}
		return nil
	})
}

func submit(client *gremlingo.Client, script string, options gremlingo.RequestOptions) ([]any, error) {
	set, err := client.SubmitWithOptions(script, options)
	if err != nil {
		return nil, err
	}
	return values(set.All())
}

func scripts(client *gremlingo.Client) {
	none := gremlingo.RequestOptions{}
	check("script", func() error {
		all, err := submit(client, "g.V().hasLabel('person').values('name')", none)
		if err != nil {
			return err
		}
		names := make([]string, len(all))
		for at, name := range all {
			names[at] = fmt.Sprint(name)
		}
		sort.Strings(names)
		return same(names, []string{"josh", "marko", "peter", "vadas"})
	})
	check("bindings", func() error {
		options := new(gremlingo.RequestOptionsBuilder).AddBinding("x", 1).AddBinding("y", "knows").Create()
		all, err := submit(client, "g.V(x).out(y).count()", options)
		if err != nil {
			return err
		}
		return same(all, []any{int64(2)})
	})
	check("script batches", func() error {
		options := new(gremlingo.RequestOptionsBuilder).SetBatchSize(10).Create()
		all, err := submit(client, "g.V().hasLabel('item')", options)
		if err != nil {
			return err
		}
		return same(len(all), 1000)
	})
	check("script error", refused("nonsense", func() error {
		_, err := submit(client, "g.V().nonsense()", none)
		return err
	}))
	check("script timeout", refused("evaluationTimeout", func() error {
		options := new(gremlingo.RequestOptionsBuilder).SetEvaluationTimeout(50).Create()
		_, err := submit(client, "g.V().repeat(both()).count()", options)
		return err
	}))
}

// Who the client is, where the server asks: by the header of the request that opens the connection.
func login() gremlingo.AuthInfoProvider {
	user, asked := os.LookupEnv("VARVE_USER")
	if !asked {
		return nil
	}
	return gremlingo.BasicAuthInfo(user, os.Getenv("VARVE_PASSWORD"))
}

func main() {
	url, source := os.Args[1], "__g_hugegraph"
	remote, err := gremlingo.NewDriverRemoteConnection(url, func(s *gremlingo.DriverRemoteConnectionSettings) {
		s.TraversalSource = source
		s.LogVerbosity = gremlingo.Off
		s.AuthInfo = login()
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	traversals(gremlingo.Traversal_().With(remote))
	remote.Close()
	client, err := gremlingo.NewClient(url, func(s *gremlingo.ClientSettings) {
		s.TraversalSource = source
		s.LogVerbosity = gremlingo.Off
		s.AuthInfo = login()
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	scripts(client)
	client.Close()
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
