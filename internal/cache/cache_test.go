package cache

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEvictsTheLeastRecentlyUsed(t *testing.T) {
	c := New[string, int](3)
	for i, key := range []string{"a", "b", "c"} {
		c.Put(key, i, 1)
	}
	c.Get("a")
	c.Put("d", 3, 1)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		_, got := c.Get(key)
		assert.Equalf(t, want, got, "cached %s", key)
	}
}

func TestBoundsTheCostOfAllValues(t *testing.T) {
	c := New[int, int](100)
	for i := range 1000 {
		c.Put(i%70, i, 1+i%9)
		if c.used > 100 {
			t.Fatalf("after %d values the cache costs %d", i, c.used)
		}
	}
	cost := 0
	for _, element := range c.entries {
		cost += element.Value.(*entry[int, int]).cost
	}
	assert.Equal(t, c.used, cost, "values cost")
	assert.Equal(t, c.Len(), c.recent.Len(), "values cost")
}

func TestDoesNotCacheWhatCostsMoreThanTheBound(t *testing.T) {
	c := New[string, int](10)
	c.Put("small", 1, 1)
	c.Put("large", 2, 11)
	if _, ok := c.Get("large"); ok || c.used > 10 {
		t.Errorf("large is cached: %v; the cache costs %d", ok, c.used)
	}
}

func TestPutReplacesAndDeleteRemoves(t *testing.T) {
	c := New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("a", 2, 5)
	if got, _ := c.Get("a"); got != 2 || c.used != 5 {
		t.Errorf("got %d at a cost of %d, want 2 at 5", got, c.used)
	}
	c.Delete("a")
	c.Delete("a")
	if _, ok := c.Get("a"); ok || c.used != 0 {
		t.Errorf("cached after Delete: %v; cost %d", ok, c.used)
	}
}

func TestConcurrentUse(t *testing.T) {
	c := New[int, int](64)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 1000 {
				c.Put(i%100, g, 1)
				c.Get(i % 50)
				c.Delete(i % 7)
			}
		})
	}
	wait.Wait()
	if c.Len() > 64 {
		t.Errorf("%d values are cached, and 64 may be", c.Len())
	}
}
