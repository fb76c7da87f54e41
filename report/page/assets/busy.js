// SPDX-License-Identifier: Apache-2.0
//
// When lanes are busy: the union of the ranges of a lane, as intervals with running sums, so that the
// share of any window is found by two binary searches; and how many lanes of a process are busy.

class Busy {
    // `items` in the order of their starts.
    constructor({ start, end }, items) {
        const [starts, ends, before] = [[], [], [0]];
        for (let i = 0; i < items.length; i++) {
            const [begins, reaches] = [start[items[i]], end[items[i]]];
            const last = ends.length - 1;
            if (last >= 0 && begins <= ends[last]) {
                if (reaches > ends[last]) ends[last] = reaches;
            } else if (reaches > begins) {
                starts.push(begins);
                ends.push(reaches);
            }
        }
        for (let i = 0; i < starts.length; i++) before.push(before[i] + ends[i] - starts[i]);
        this.starts = Float64Array.from(starts);
        this.ends = Float64Array.from(ends);
        this.before = Float64Array.from(before);
    }

    // The busy time of from..to.
    between(from, to) {
        const { starts, ends, before } = this;
        const first = upperBound(ends, from);
        const after = lowerBound(starts, to);
        if (first >= after) return 0;
        return before[after] - before[first] - Math.max(from - starts[first], 0) - Math.max(ends[after - 1] - to, 0);
    }
}

// How many of several lanes are busy: a step function of time, known by its edges.
class BusyCount {
    constructor(lanes) {
        const joined = (edge) => {
            const all = new Float64Array(lanes.reduce((sum, lane) => sum + lane[edge].length, 0));
            lanes.reduce((at, lane) => (all.set(lane[edge], at), at + lane[edge].length), 0);
            return all.sort();
        };
        this.most = lanes.length;
        this.starts = joined("starts");
        this.ends = joined("ends");
    }

    // The means of `count` windows side by side, each as long as `length`.
    means(from, length, count) {
        const { starts, ends } = this;
        let [start, end, at] = [upperBound(starts, from), upperBound(ends, from), from];
        const means = new Float64Array(count);
        for (let i = 0; i < count; i++) {
            const until = from + (i + 1) * length;
            let area = 0;
            while (Math.min(starts[start] ?? Infinity, ends[end] ?? Infinity) < until) {
                const isStart = (starts[start] ?? Infinity) < ends[end];
                const edge = isStart ? starts[start] : ends[end];
                area += (start - end) * (edge - at);
                at = edge;
                if (isStart) start++;
                else end++;
            }
            means[i] = (area + (start - end) * (until - at)) / length;
            at = until;
        }
        return means;
    }
}
