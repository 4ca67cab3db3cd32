// Package cache holds recently used values within a bound.
package cache

import (
	"container/list"
	"sync"
)

// A Cache maps keys to values and evicts the least recently used ones when their total cost exceeds
// its bound. It may be used concurrently. A cached value is only a hint: callers must be able to
// read every value again.
type Cache[K comparable, V any] struct {
	mu      sync.Mutex
	max     int
	used    int
	entries map[K]*list.Element
	recent  *list.List // of *entry[K, V], the most recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

// New returns an empty cache with a bound on the total cost of its values.
func New[K comparable, V any](maxCost int) *Cache[K, V] {
	return &Cache[K, V]{max: maxCost, entries: map[K]*list.Element{}, recent: list.New()}
}

// Get returns a key's cached value, if any.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.recent.MoveToFront(element)
	return element.Value.(*entry[K, V]).value, true
}

// Put caches a value with a cost of at least 1. It replaces an earlier value of the key.
func (c *Cache[K, V]) Put(key K, value V, cost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.entries[key]; ok {
		e := element.Value.(*entry[K, V])
		c.used += cost - e.cost
		e.value, e.cost = value, cost
		c.recent.MoveToFront(element)
	} else {
		c.entries[key] = c.recent.PushFront(&entry[K, V]{key, value, cost})
		c.used += cost
	}
	for c.used > c.max {
		c.remove(c.recent.Back().Value.(*entry[K, V]).key)
	}
}

// Delete removes a key's value from the cache.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// Len returns the number of cached values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

func (c *Cache[K, V]) remove(key K) {
	element, ok := c.entries[key]
	if !ok {
		return
	}
	delete(c.entries, key)
	c.recent.Remove(element)
	c.used -= element.Value.(*entry[K, V]).cost
}
