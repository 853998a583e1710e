// Local times and live updates. Everything else works without this file.
"use strict";
(() => {
  const body = document.body;

  const ofToday = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
  const ofOtherDays = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const localTimes = (root) => {
    const today = new Date().toDateString();
    for (const element of root.querySelectorAll("time[datetime]")) {
      const time = new Date(element.dateTime);
      element.textContent = (time.toDateString() === today ? ofToday : ofOtherDays).format(time);
    }
  };

  // What an action did is said once, not again when the page is loaded anew.
  const address = new URL(location.href);
  if (address.searchParams.has("done")) {
    address.searchParams.delete("done");
    history.replaceState(null, "", address);
  }
  localTimes(document);

  // A region that somebody has selected text in is left alone until the next change.
  const isSelected = (element) => {
    const selection = getSelection();
    return !selection.isCollapsed && element.contains(selection.anchorNode);
  };

  // keep carries over to a new region what the reader did to the old one.
  const keep = (old, fresh) => {
    for (const open of old.querySelectorAll("details[open][id]")) {
      fresh.querySelector("#" + CSS.escape(open.id))?.setAttribute("open", "");
    }
    const focused = document.activeElement;
    if (!old.contains(focused)) return () => {};
    const href = focused.getAttribute("href");
    const selector = focused.id ? "#" + CSS.escape(focused.id) : href ? `a[href="${CSS.escape(href)}"]` : "";
    return () => selector && fresh.querySelector(selector)?.focus({ preventScroll: true });
  };

  const announced = () => Array.from(document.querySelectorAll("[data-announce]"), (e) => e.textContent.trim()).join(", ");

  // swap puts the regions of a new page in the place of those that differ.
  const swap = (page) => {
    const before = announced();
    localTimes(page);
    for (const fresh of page.querySelectorAll("[data-live]")) {
      const old = document.getElementById(fresh.id);
      if (!old || old.isEqualNode(fresh) || isSelected(old)) continue;
      const refocus = keep(old, fresh);
      old.replaceWith(fresh);
      refocus();
    }
    if (announced() !== before) document.getElementById("announce").textContent = announced();
  };

  const parse = (html) => new DOMParser().parseFromString(html, "text/html");

  let busy = false;
  let again = false;
  const load = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    const began = performance.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      const html = await answer.text();
      if (answer.ok) swap(parse(html));
      else say(answer.status === 404 ? "It is gone" : "Not live");
    } catch {
      say("Not live");
    }
    // A page that takes long to make is not asked for all the time.
    setTimeout(() => {
      busy = false;
      if (again) {
        again = false;
        load();
      }
    }, Math.max(500, 5 * (performance.now() - began)));
  };

  const button = document.getElementById("live");
  if (!button) return;
  const say = (text) => {
    document.getElementById("live-text").textContent = text;
    button.classList.toggle("off", text !== "Live");
  };

  let source = null;
  let version = body.dataset.version;
  let wanted = true;
  const stop = () => {
    source?.close();
    source = null;
  };
  // A browser has six connections to a server: pages that nobody sees have none.
  const follow = () => {
    stop();
    if (!wanted) return say("Paused");
    if (document.hidden) return;
    const stream = body.dataset.stream;
    source = new EventSource(stream + (stream.includes("?") ? "&" : "?") + "version=" + encodeURIComponent(version));
    source.onopen = () => say("Live");
    source.onerror = () => say("Reconnecting");
    source.addEventListener("part", (event) => swap(parse(event.data)));
    source.addEventListener("change", (event) => {
      version = event.data;
      load();
    });
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    wanted = !wanted;
    button.setAttribute("aria-pressed", String(wanted));
    follow();
  });
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", stop);
  follow();
})();
