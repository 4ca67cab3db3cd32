package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/httperror"
	"riffle/internal/ledger"
	"riffle/internal/shuffle"
)

// durations are the bounds of all duration histograms, in seconds: about three for each power of ten.
var durations = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1, 2.5, 5, 10}

// Metrics are the metrics of all logs. Each label has a bounded set of values, such as the routes.
type Metrics struct {
	requests    *prometheus.HistogramVec
	byKey       *prometheus.CounterVec
	shuffles    *prometheus.HistogramVec
	items       *prometheus.CounterVec
	shed        *prometheus.CounterVec
	rejected    *prometheus.CounterVec
	commits     *prometheus.HistogramVec
	lost        *prometheus.CounterVec // races for the end of the log
	commitments *prometheus.CounterVec
	shoes       *prometheus.CounterVec
	anchored    *prometheus.GaugeVec
	witnesses   *prometheus.CounterVec
	witnessed   *prometheus.GaugeVec
}

// LogMetrics are the metrics of one log.
type LogMetrics struct {
	*Metrics
	log string
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer, version, revision string) *Metrics {
	register := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{logLabel}, labels...))
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return register.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, append([]string{logLabel}, labels...))
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	gauge("riffle_build_info", "1, labelled by what runs.", "version", "revision").WithLabelValues(version, revision).Set(1)
	return &Metrics{
		requests:    histogram("riffle_http_request_duration_seconds", "Time from a request's header to the end of its answer.", durations, "route", "method", "status"),
		byKey:       counter("riffle_requests_total", "Requests by the name of the key that sent them; empty for callers without a key.", "key"),
		shuffles:    histogram("riffle_shuffle_duration_seconds", "Time of the shuffles of one request, from keystream to order.", durations, "algorithm"),
		items:       counter("riffle_items_shuffled_total", "Items drawn, over all shuffles."),
		shed:        counter("riffle_http_shed_total", "Requests that were answered 503: queue or memory budget full, no space, no store, no checkpoint yet, stopping."),
		rejected:    counter("riffle_rejected_requests_total", "Requests that were answered 503, by what was full or missing.", "reason"),
		commits:     histogram("riffle_commit_duration_seconds", "Time of one durable commit of a batch of records.", durations, "result"),
		lost:        counter("riffle_commit_conflicts_total", "Commits that were made again because another process appended first."),
		commitments: counter("riffle_commitments_total", "Commitments that were made, used or logged as void, and uses that came late.", "event"),
		shoes:       counter("riffle_shoe_changes_total", "Changes of shoes, by the kind of their records.", "kind"),
		anchored:    gauge("riffle_anchor_compared_timestamp_seconds", "When the log was last compared with an anchor.", logLabel, "anchor"),
		witnesses:   counter("riffle_witness_answers_total", "Checkpoints that a witness was asked to cosign, by what became of it.", "witness", "result"),
		witnessed:   gauge("riffle_witnessed_timestamp_seconds", "When enough witnesses were last known to have cosigned the published checkpoint.", logLabel),
	}
}

// logLabel is the label for the name of the log.
const logLabel = "log"

// Log returns the metrics of a log. Counters of known labels begin at 0.
func (m *Metrics) Log(name string) *LogMetrics {
	for _, plain := range []*prometheus.CounterVec{m.items, m.shed, m.lost} {
		plain.WithLabelValues(name)
	}
	begin(m.commitments.MetricVec, name, dealer.Committed, dealer.Used, dealer.Voided, dealer.Late)
	begin(m.shoes.MetricVec, name, audit.KindShoe, audit.KindDraw, audit.KindAdd, audit.KindReturn, audit.KindReshuffle, audit.KindClose, audit.KindExpire)
	begin(m.rejected.MetricVec, name, httperror.Reasons()...)
	begin(m.shuffles.MetricVec, name, shuffle.Algorithms()...)
	return &LogMetrics{m, name}
}

// begin begins metrics of a log at 0, by their other label.
func begin[T ~string](vec *prometheus.MetricVec, log string, labels ...T) {
	for _, label := range labels {
		_, _ = vec.GetMetricWithLabelValues(log, string(label)) // no error, since the vector has two labels
	}
}

// Watch registers gauges of each log: whether it is ready, its queue and its sizes, and its open and late
// commitments and open shoes. A scrape counts these in the store, and omits them if it cannot be reached.
func (a *API) Watch(registry prometheus.Registerer) {
	for _, l := range a.all {
		registry.MustRegister(l)
	}
}

// Describe implements [prometheus.Collector]. It leaves the gauges to Collect, which has each of
// them once.
func (*Log) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. The registry collects from all logs concurrently,
// since a store may not answer.
func (l *Log) Collect(c chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	show := func(name, help string, value float64, status ...string) {
		desc := prometheus.NewDesc(name, help, []string{logLabel, "status"}[:1+len(status)], nil)
		c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{l.name}, status...)...)
	}
	ready := 1.0
	if l.ready() != nil {
		ready = 0
	}
	show("riffle_ready", "1 while the log is ready: see /readyz.", ready)
	log, err := l.acquire()
	if err != nil {
		return
	}
	defer log.release()
	depth, capacity := log.Log.Queued()
	committed, published := log.Log.Sizes()
	show("riffle_queue_depth", "Records that wait for the next commit.", float64(depth))
	show("riffle_queue_capacity", "Records that may wait before requests are answered 503.", float64(capacity))
	show("riffle_log_size", "Records in the log, as far as this process knows.", float64(committed))
	show("riffle_log_published_size", "Records that the published checkpoint covers.", float64(published))
	if open, late, err := log.Dealer.CountCommitments(ctx); err == nil {
		const help = "Commitments in the log that wait to be used (open), or for the log to say that they are void (late)."
		show("riffle_commitments", help, float64(open), string(dealer.StatusOpen))
		show("riffle_commitments", help, float64(late), string(dealer.StatusLate))
	}
	if open, err := log.Shoes.Count(ctx); err == nil {
		show("riffle_shoes", "Shoes that cards can be dealt from.", float64(open))
	}
}

// Commitment counts an event of a commitment.
func (m *LogMetrics) Commitment(e dealer.Event) {
	m.commitments.WithLabelValues(m.log, string(e)).Inc()
}

// ShoeChange counts a record of a shoe.
func (m *LogMetrics) ShoeChange(kind audit.Kind) { m.shoes.WithLabelValues(m.log, string(kind)).Inc() }

// Anchored records that the log was compared with an anchor.
func (m *LogMetrics) Anchored(name string) {
	m.anchored.WithLabelValues(m.log, name).SetToCurrentTime()
}

// Witness counts an answer of a witness.
func (m *LogMetrics) Witness(name, result string) {
	m.witnesses.WithLabelValues(m.log, name, result).Inc()
}

// Witnessed records that enough witnesses have cosigned the published checkpoint.
func (m *LogMetrics) Witnessed() { m.witnessed.WithLabelValues(m.log).SetToCurrentTime() }

// request counts a request that was answered, with its time.
func (m *LogMetrics) request(x *exchange, took time.Duration) {
	m.requests.WithLabelValues(m.log, pattern(x.r), method(x.r.Method), statusLabel(x.Status)).Observe(took.Seconds())
	m.byKey.WithLabelValues(m.log, x.caller.Key).Inc()
}

// Commit records a commit of the log.
func (m *LogMetrics) Commit(c ledger.Commit) {
	result := "ok"
	if c.Err != nil {
		result = "error"
	}
	m.commits.WithLabelValues(m.log, result).Observe(c.Duration.Seconds())
	m.lost.WithLabelValues(m.log).Add(float64(c.Conflicts))
}

// pattern returns the request's route, a label of metrics.
func pattern(r *http.Request) string {
	if p := chi.RouteContext(r.Context()).RoutePattern(); p != "" {
		return p
	}
	return "none"
}

// statusLabel returns a status as a label, usually without allocating.
func statusLabel(status int) string {
	if status == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(status)
}

// method returns a method as a label: "other" if HTTP does not define it.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// metricsBytes is the approximate memory of the metrics of a log, or of the process.
const metricsBytes = 256 << 10

// metrics answers GET /metrics.
func (a *API) metrics(x *exchange) error {
	if err := x.lease.Grow(int64(1+len(a.all)) * metricsBytes); err != nil {
		return err
	}
	families, err := a.Gatherer.Gather()
	if err != nil {
		return err
	}
	x.Header().Set("Cache-Control", "no-store")
	gathered := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	promhttp.HandlerFor(gathered, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(x, x.r)
	return nil
}
