/* Keeps marked parts of a page fresh, and a click from counting twice. Every page also works without this script.

   <div data-live="/address/" data-live-part="name" data-live-every="milliseconds">: the address answers a request that has the header X-Part with
   the inner HTML. What somebody has ticked, unfolded or focused stays so. An element with data-ended ends it; the
   text of data-says is read out when data-state changes. */

"use strict";

(() => {
    const EVERY = 4000; // a person watches; each look costs the server a few indexed reads
    const SLOWEST = 60000;
    const PATIENCE = 5000;

    class Live {
        constructor(region) {
            this.region = region;
            this.every = Number(region.dataset.liveEvery) || EVERY;
            this.wait = this.every;
            this.told = this.state();
            this.bar = this.makeBar();
            region.before(this.bar);
            document.addEventListener("visibilitychange", () => this.plan());
            this.plan();
        }

        makeBar() {
            const bar = document.createElement("p");
            bar.className = "live-bar";
            this.button = document.createElement("button");
            this.button.type = "button";
            this.button.className = "quiet-button";
            this.button.textContent = "Pause";
            this.button.addEventListener("click", () => this.toggle());
            this.note = document.createElement("span");
            this.note.textContent = "Refreshes by itself.";
            this.voice = document.createElement("span");
            this.voice.className = "visually-hidden";
            this.voice.setAttribute("role", "status");
            bar.append(this.button, " ", this.note, this.voice);
            return bar;
        }

        toggle() {
            this.paused = !this.paused;
            this.button.textContent = this.paused ? "Go on refreshing" : "Pause";
            this.note.textContent = this.paused ? `Paused at ${time()}.` : "Refreshes by itself.";
            this.wait = this.every;
            this.plan(this.paused ? undefined : 0);
        }

        plan(wait) {
            clearTimeout(this.timer);
            if (this.paused || this.ended || document.hidden) return;
            this.timer = setTimeout(() => this.look(), wait ?? this.wait);
        }

        async look() {
            try {
                const answer = await fetch(this.region.dataset.live, {
                    headers: { "X-Part": this.region.dataset.livePart },
                    credentials: "same-origin",
                    redirect: "error", // the sign-in page is no part of this one
                    signal: AbortSignal.timeout(15000),
                });
                if (!answer.ok) throw new Error(String(answer.status));
                this.show(await answer.text());
            } catch {
                this.wait = Math.min(this.wait * 2, SLOWEST);
                this.note.textContent = `Could not refresh at ${time()}; trying again. What you see may be old.`;
                this.note.className = "stale";
            }
            this.plan();
        }

        show(html) {
            if (this.paused) return; // pressed while the answer was on its way
            if (isSelectedIn(this.region)) return; // somebody is about to copy what they have marked
            const kept = keep(this.region);
            this.region.innerHTML = html;
            restore(this.region, kept);
            offerCopies(this.region);
            this.wait = this.every;
            this.note.className = "";
            this.note.textContent = `As of ${time()}.`;
            this.tell();
        }

        tell() {
            const state = this.state();
            if (state !== this.told) this.voice.textContent = this.region.querySelector("[data-says]").dataset.says;
            if (state !== this.told && "liveMore" in this.region.dataset) this.more();
            this.told = state;
            if (!this.region.querySelector("[data-ended]")) return;
            this.ended = true;
            this.button.remove();
            this.note.textContent = `It has ended; nothing changes here any more. As of ${time()}.`;
        }

        more() {
            const link = document.createElement("a");
            link.href = location.pathname;
            link.textContent = "It has changed: load all of the page again";
            this.bar.querySelector("a")?.remove();
            this.bar.append(link);
        }

        state() {
            return this.region.querySelector("[data-state]")?.dataset.state;
        }
    }

    /* Takes a long act on, step by step, as its button would; whoever closes the page can resume it. */
    class Run {
        constructor(region) {
            this.region = region;
            this.bar = document.createElement("p");
            this.bar.className = "live-bar";
            this.button = document.createElement("button");
            this.button.type = "button";
            this.button.className = "quiet-button";
            this.button.addEventListener("click", () => this.toggle());
            this.note = document.createElement("span");
            this.voice = document.createElement("span");
            this.voice.className = "visually-hidden";
            this.voice.setAttribute("role", "status");
            this.bar.append(this.button, " ", this.note, this.voice);
            if (!this.form()) return;
            region.before(this.bar);
            this.go();
        }

        form() {
            return this.region.querySelector("form[data-step]");
        }

        toggle() {
            this.paused = !this.paused;
            this.paused ? this.rest("Paused. Nothing more is done until you go on.") : this.go();
        }

        rest(words) {
            this.paused = true;
            this.button.textContent = "Go on";
            this.note.textContent = words;
        }

        async go() {
            this.button.textContent = "Pause";
            this.note.textContent = "Goes on by itself.";
            if (this.working) return;
            this.working = true;
            try {
                while (!this.paused && this.form()) await this.step();
                if (!this.form()) this.end();
            } catch {
                this.rest("The last step got no answer. It counts once, even if it is sent again.");
            }
            this.working = false;
        }

        async step() {
            const answer = await fetch(location.href, {
                method: "POST",
                body: new FormData(this.form()),
                headers: { "X-Part": "progress" },
                signal: AbortSignal.timeout(60000),
            });
            if (!answer.ok) throw new Error(String(answer.status));
            this.region.innerHTML = await answer.text();
        }

        end() {
            this.button.remove();
            this.note.textContent = "";
            this.voice.textContent = this.region.querySelector("[data-says]")?.dataset.says ?? "";
        }
    }

    function keep(region) {
        const focused = region.contains(document.activeElement) ? document.activeElement : null;
        return {
            ticked: new Set([...region.querySelectorAll("input[type=checkbox]:checked")].map(keyOf)),
            open: [...region.querySelectorAll("details")].map((each) => each.open),
            focus: focused && keyOf(focused),
        };
    }

    function restore(region, kept) {
        for (const box of region.querySelectorAll("input[type=checkbox]")) box.checked = kept.ticked.has(keyOf(box));
        region.querySelectorAll("details").forEach((each, at) => { each.open = kept.open[at] ?? each.open; });
        if (!kept.focus) return;
        const again = [...region.querySelectorAll("a, button, input, summary")].find((each) => keyOf(each) === kept.focus);
        again?.focus({ preventScroll: true });
    }

    function isSelectedIn(region) {
        const selected = document.getSelection();
        return Boolean(selected) && !selected.isCollapsed && region.contains(selected.anchorNode);
    }

    function offerCopies(root) {
        if (!navigator.clipboard) return; // not over plain HTTP
        for (const id of root.querySelectorAll("dl.facts .id, h1 .id")) {
            if (id.nextElementSibling?.classList.contains("copy")) continue;
            const button = document.createElement("button");
            button.type = "button";
            button.className = "copy";
            button.textContent = "Copy";
            button.value = id.textContent;
            button.setAttribute("aria-label", `Copy ${id.textContent}`);
            button.addEventListener("click", () => copy(button));
            id.after(" ", button);
        }
    }

    async function copy(button) {
        await navigator.clipboard.writeText(button.value);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
    }

    function keyOf(element) {
        return [element.tagName, element.name, element.value, element.getAttribute("href")].join(" ");
    }

    function time() {
        return new Date().toLocaleTimeString();
    }

    /* The server answers the same click the same way; this only spares a person the wait for two answers. */
    function once(event) {
        const form = event.target;
        if (form.method !== "post") return;
        if (form.dataset.sent) event.preventDefault();
        form.dataset.sent = "yes";
        setTimeout(() => { delete form.dataset.sent; }, PATIENCE); // whoever stopped the wait may send again
    }

    function again() {
        // A page that the back button brings from memory can be sent again.
        for (const form of document.forms) delete form.dataset.sent;
    }

    document.addEventListener("submit", once);
    window.addEventListener("pageshow", again);
    document.querySelector(".error-summary")?.focus();
    offerCopies(document);
    for (const region of document.querySelectorAll("[data-live]")) new Live(region);
    for (const region of document.querySelectorAll("[data-run]")) new Run(region);
})();
