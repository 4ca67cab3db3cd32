// Package cache holds recently used values within a bound.
package cache

import (
	"container/list"
	"sync"
)

// A Cache maps keys to values and evicts the least recently used ones when their cost exceeds its
// bound. It may be used concurrently. What it holds is only a hint: a caller must be able to read
// every value again.
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

// New returns an empty cache whose values may cost maxCost together.
func New[K comparable, V any](maxCost int) *Cache[K, V] {
	return &Cache[K, V]{max: maxCost, entries: map[K]*list.Element{}, recent: list.New()}
}

// Get returns the value of a key, if it is cached.
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

// Put caches a value that costs at least 1, in place of an earlier one of the key.
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

// Delete removes the value of a key, if it is cached.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// Len returns how many values are cached.
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
