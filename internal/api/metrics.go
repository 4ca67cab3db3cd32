package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/httpjson"
	"riffle/internal/ledger"
	"riffle/internal/shuffle"
	"riffle/internal/timeshare"
)

// durations are the bounds of all duration histograms, in seconds: 50 µs to 10 s, about three to a
// decade.
var durations = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1, 2.5, 5, 10}

// Metrics are what the service counts of itself. Every label comes from a closed set: routes of the
// router, methods, statuses and algorithms.
type Metrics struct {
	requests    *prometheus.HistogramVec
	byKey       *prometheus.CounterVec
	shuffles    map[shuffle.Algorithm]prometheus.Observer
	items       prometheus.Counter
	shed        prometheus.Counter
	rejected    *prometheus.CounterVec
	commits     *prometheus.HistogramVec
	records     prometheus.Histogram
	lost        prometheus.Counter // races for the end of the log
	commitments map[dealer.Event]prometheus.Counter
	shoes       map[audit.Kind]prometheus.Counter
	random      prometheus.Counter
	connections prometheus.Gauge
	http2       prometheus.Gauge
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer, version, revision string) *Metrics {
	m := &Metrics{
		commitments: map[dealer.Event]prometheus.Counter{},
		shoes:       map[audit.Kind]prometheus.Counter{},
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "riffle_http_request_duration_seconds", Help: "Time from a request's header to the end of its answer.", Buckets: durations,
		}, []string{"route", "method", "status"}),
		byKey: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riffle_requests_total", Help: "Requests by the name of the key that sent them; empty for callers without a key.",
		}, []string{"key"}),
		shuffles: map[shuffle.Algorithm]prometheus.Observer{},
		items: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riffle_items_shuffled_total", Help: "Items drawn, over all shuffles.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riffle_http_shed_total", Help: "Requests that were answered 503: queue or memory budget full, no space, no store, no checkpoint yet, stopping.",
		}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riffle_rejected_requests_total", Help: "Requests that were answered 503, by what was full or missing.",
		}, []string{"reason"}),
		commits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "riffle_commit_duration_seconds", Help: "Time of one durable commit of a batch of records.", Buckets: durations,
		}, []string{"result"}),
		records: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "riffle_commit_records", Help: "Records in one commit.", Buckets: prometheus.ExponentialBuckets(1, 2, 13),
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riffle_commit_conflicts_total", Help: "Commits that were made again because another process appended first.",
		}),
		random: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riffle_random_bytes_total", Help: "Bytes read from the operating system's generator.",
		}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "riffle_connections", Help: "Open connections, idle ones included.",
		}),
		http2: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "riffle_http2_connections", Help: fmt.Sprintf("Open connections that may use HTTP/2; each takes the room of %d.", http2Streams),
		}),
	}
	commitments := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "riffle_commitments_total", Help: "Commitments that were made, used or logged as void, and uses that came late.",
	}, []string{"event"})
	changes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "riffle_shoe_changes_total", Help: "Changes of shoes, by the kind of their records.",
	}, []string{"kind"})
	for event, name := range map[dealer.Event]string{
		dealer.Committed: "made", dealer.Used: "used", dealer.Voided: "void", dealer.Late: "late",
	} {
		m.commitments[event] = commitments.WithLabelValues(name)
	}
	for _, kind := range []audit.Kind{
		audit.KindShoe, audit.KindDraw, audit.KindAdd, audit.KindReturn, audit.KindReshuffle, audit.KindClose, audit.KindExpire,
	} {
		m.shoes[kind] = changes.WithLabelValues(string(kind))
	}
	for _, r := range rejections {
		m.rejected.WithLabelValues(r.reason)
	}
	m.rejected.WithLabelValues(memoryReason)
	m.rejected.WithLabelValues(otherReason)
	dealt := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "riffle_shuffle_duration_seconds", Help: "Time of the shuffles of one request, from keystream to order.", Buckets: durations,
	}, []string{"algorithm"})
	for _, alg := range shuffle.Algorithms() {
		m.shuffles[alg] = dealt.WithLabelValues(string(alg))
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "riffle_build_info", Help: "1, labelled by what runs.",
	}, []string{"version", "revision"})
	build.WithLabelValues(version, revision).Set(1)
	registry.MustRegister(m.requests, m.byKey, dealt, m.items, m.shed, m.rejected, m.commits, m.records, m.lost, m.random, m.connections, m.http2, commitments, changes, build)
	return m
}

// WatchLog registers what is read off a log: its queue, its sizes and whether it is ready; and how
// many connections there may be.
func (a *API) WatchLog(registry prometheus.Registerer) {
	registry.MustRegister(logGauges{a}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riffle_connections_capacity", Help: "Connections that may be open; a peer may have as many as are left for others.",
	}, func() float64 { return float64(a.MaxConnections) }))
}

// WatchStore registers gauges of open commitments, late ones and open shoes. They are counted in
// the store; a scrape during which it cannot be reached leaves them out.
func (a *API) WatchStore(registry prometheus.Registerer) {
	registry.MustRegister(openCounts{a})
}

// The gauges of a log.
var (
	queueDepthDesc    = prometheus.NewDesc("riffle_queue_depth", "Records that wait for the next commit.", nil, nil)
	queueCapacityDesc = prometheus.NewDesc("riffle_queue_capacity", "Records that may wait before requests are answered 503.", nil, nil)
	logSizeDesc       = prometheus.NewDesc("riffle_log_size", "Records in the log, as far as this process knows.", nil, nil)
	publishedSizeDesc = prometheus.NewDesc("riffle_log_published_size", "Records that the published checkpoint covers.", nil, nil)
	readyDesc         = prometheus.NewDesc("riffle_ready", "1 while /readyz answers 200.", nil, nil)
	commitmentsDesc   = prometheus.NewDesc("riffle_commitments", "Commitments in the log that wait to be used (open), or for the log to say that they are void (late).", []string{"status"}, nil)
	shoesDesc         = prometheus.NewDesc("riffle_shoes", "Shoes that cards can be dealt from.", nil, nil)
)

func gauge(c chan<- prometheus.Metric, desc *prometheus.Desc, value float64, labels ...string) {
	c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

type logGauges struct{ api *API }

func (logGauges) Describe(c chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{readyDesc, queueDepthDesc, queueCapacityDesc, logSizeDesc, publishedSizeDesc} {
		c <- desc
	}
}

func (g logGauges) Collect(c chan<- prometheus.Metric) {
	ready := 1.0
	if g.api.ready() != nil {
		ready = 0
	}
	gauge(c, readyDesc, ready)
	open, err := g.api.main.acquire()
	if err != nil {
		return
	}
	defer open.release()
	depth, capacity := open.Log.Queued()
	committed, published := open.Log.Sizes()
	gauge(c, queueDepthDesc, float64(depth))
	gauge(c, queueCapacityDesc, float64(capacity))
	gauge(c, logSizeDesc, float64(committed))
	gauge(c, publishedSizeDesc, float64(published))
}

type openCounts struct{ api *API }

func (openCounts) Describe(c chan<- *prometheus.Desc) { c <- commitmentsDesc; c <- shoesDesc }

func (o openCounts) Collect(c chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	log, err := o.api.main.acquire()
	if err != nil {
		return
	}
	defer log.release()
	open, late, err := log.Dealer.CountCommitments(ctx)
	if err != nil {
		return
	}
	gauge(c, commitmentsDesc, float64(open), string(dealer.StatusOpen))
	gauge(c, commitmentsDesc, float64(late), string(dealer.StatusLate))
	open, err = log.Shoes.Count(ctx)
	if err != nil {
		return
	}
	gauge(c, shoesDesc, float64(open))
}

// Commitment counts an event of a commitment.
func (m *Metrics) Commitment(e dealer.Event) { m.commitments[e].Inc() }

// ShoeChange counts a record of a shoe.
func (m *Metrics) ShoeChange(kind audit.Kind) { m.shoes[kind].Inc() }

// rejections are the errors that are answered 503, and the reasons that they are counted under.
var rejections = []struct {
	err    error
	reason string
}{
	{ledger.ErrBusy, "queue"},
	{ledger.ErrOverloaded, "readers"},
	{timeshare.ErrFull, "replays"},
	{errReplayTime, "replays"},
	{errConnections, "connections"},
	{ledger.ErrNoSpace, "space"},
	{ledger.ErrUnavailable, "store"},
	{ledger.ErrNotPublished, "checkpoint"},
	{ledger.ErrClosed, "stopping"},
}

const (
	memoryReason = "memory" // the memory budget was full: see httpjson.Budget
	otherReason  = "other"  // of every other error: /readyz answers 503 while the service is not ready
)

// Reject counts a request that is answered 503 because of the error.
func (m *Metrics) Reject(err error) {
	reason := otherReason
	if body := (*httpjson.Error)(nil); errors.As(err, &body) {
		reason = memoryReason
	}
	for _, r := range rejections {
		if errors.Is(err, r.err) {
			reason = r.reason
			break
		}
	}
	m.rejected.WithLabelValues(reason).Inc()
}

// Commit notes a commit of the log.
func (m *Metrics) Commit(c ledger.Commit) {
	result := "ok"
	if c.Err != nil {
		result = "error"
	}
	m.commits.WithLabelValues(result).Observe(c.Duration.Seconds())
	m.records.Observe(float64(c.Records))
	m.lost.Add(float64(c.Conflicts))
}

// Random counts what is read from a source of randomness.
func (m *Metrics) Random(source io.Reader) io.Reader { return &countedReader{source, m.random} }

type countedReader struct {
	source io.Reader
	bytes  prometheus.Counter
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.source.Read(p)
	r.bytes.Add(float64(n))
	return n, err
}

// pattern returns the pattern of a request's route, which is a label of metrics.
func pattern(r *http.Request) string {
	if p := chi.RouteContext(r.Context()).RoutePattern(); p != "" {
		return p
	}
	return "none"
}

// method returns a method as a label of metrics: one that HTTP does not define is "other".
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// metricsBytes is about the memory of all metrics.
const metricsBytes = 512 << 10

// metrics answers GET /metrics.
func (a *API) metrics(w http.ResponseWriter, r *http.Request) error {
	if err := leaseOf(w).Grow(metricsBytes); err != nil {
		return err
	}
	families, err := a.Gatherer.Gather()
	if err != nil {
		return err
	}
	gathered := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	promhttp.HandlerFor(gathered, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
	return nil
}
