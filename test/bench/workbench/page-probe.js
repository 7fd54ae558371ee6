// Runs in the frame of the Conversation view: records when text appears in the page, how long frames and tasks take,
// and whether the visible content stays in place. Evaluated as text, so that no transpiler adds what the page doesn't
// have.
;(() => {
  /** The maximum number of recorded gaps: an hour at 60 frames per second. */
  const mostGaps = 216_000

  class Probe {
    /** milliseconds between two frames as scripts see them, in order */
    gaps = []
    /** milliseconds between the times for which those frames were rendered */
    beats = []
    /** frames in which a part of the view had no rows; counted on request */
    blanks = 0
    /** tasks longer than 50 ms: `[milliseconds, attribution]` */
    tasks = []
    /** by the awaited text: when it appeared in the page, and when that frame was done (epoch ms) */
    seen = {}
    done = {}
    /** when chunk n of a stream appeared in the page (epoch ms) */
    chunks = []
    nodes = 0
    #wanted = new Map()
    /** of the turn whose chunks are recorded; undefined after it started, null if there is none */
    #awaitedPrompt = null
    #running = true
    #last = performance.now()
    #lastBeat = performance.now()
    #scrolled
    #copy
    #plain
    #mutations
    #observer
    #held

    constructor() {
      this.#mutations = new MutationObserver(() => this.#look())
      this.#mutations.observe(document.body, { subtree: true, childList: true, characterData: true })
      this.#observer = new PerformanceObserver(list => {
        for (const entry of list.getEntries()) this.tasks.push([entry.duration, entry.name])
      })
      this.#observer.observe({ type: 'longtask' })
      requestAnimationFrame(beat => this.#frame(beat))
    }

    /** Waits for a text, given as a regular expression, in the last rows of the conversation. */
    want(name, pattern) {
      this.#wanted.set(name, new RegExp(pattern))
    }

    /** Records each chunk `cN ` after this prompt; chunks of other turns can precede it. */
    wantChunks(prompt) {
      this.#awaitedPrompt = prompt
    }

    #frame(beat) {
      const now = performance.now()
      if (this.gaps.length < mostGaps) {
        this.gaps.push(now - this.#last)
        this.beats.push(beat - this.#lastBeat)
      }
      this.#last = now
      this.#lastBeat = beat
      if (this.#scrolled && this.#isBlank(this.#scrolled)) this.blanks++
      const held = this.#held
      if (held)
        held.moved = Math.max(held.moved, Math.abs(held.element.getBoundingClientRect().top - held.top))
      if (this.#running) requestAnimationFrame(next => this.#frame(next))
    }

    /** The placeholder for rows above or below those in the page is visible. */
    #isBlank({ list, above, below }) {
      const { top, bottom } = list.getBoundingClientRect()
      const [before, after] = [above.getBoundingClientRect(), below.getBoundingClientRect()]
      return (before.height > 0 && before.bottom > top + 1) || (after.height > 0 && after.top < bottom - 1)
    }

    /** From now on counts the frames in which a part of the view has no rows. */
    watchBlanks() {
      const list = document.querySelector('.transcript')
      const [above, below] = list.querySelectorAll('[role=log] > [role=presentation]')
      this.#scrolled = { list, above, below }
    }

    /**
     * Covers the list with a copy of its content, repeated to the same height: scrolling it costs only the rendering.
     */
    layStillCopy(height) {
      const list = document.querySelector('.transcript')
      const copy = list.cloneNode(true)
      Object.assign(copy.style, { position: 'absolute', inset: '0' })
      const log = copy.querySelector('[role=log]')
      const rows = [...log.children].filter(child => child.matches('.row'))
      const seen = [...list.querySelectorAll('[role=log] > .row')]
      const once = seen.at(-1).getBoundingClientRect().bottom - seen[0].getBoundingClientRect().top
      log.replaceChildren()
      for (let done = 0; done < height; done += once) log.append(...rows.map(row => row.cloneNode(true)))
      list.style.visibility = 'hidden'
      list.after(copy)
      copy.scrollTop = copy.scrollHeight
      this.#copy = { list, copy }
    }

    /** Returns how far the copy was scrolled from its end. */
    takeStillCopy() {
      const { list, copy } = this.#copy
      const way = copy.scrollHeight - copy.clientHeight - copy.scrollTop
      copy.remove()
      list.style.visibility = ''
      return way
    }

    /**
     * From the next text on, the page shows nothing but the text of this conversation's patches, which it appends:
     * receiving, laying out and painting it costs at least as much as here.
     */
    onlyAppend() {
      const page = document.createElement('div')
      Object.assign(page.style, { position: 'fixed', inset: '0', overflowY: 'auto', whiteSpace: 'pre-wrap' })
      let paragraph = page.appendChild(document.createElement('p'))
      const root = document.getElementById('root')
      const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data')
      const hear = event => {
        const { method, params } = data.get.call(event) ?? {}
        if (method !== 'conversation/patch') return
        const texts = params.ops.filter(({ op }) => op === 'text').map(({ text }) => text)
        if (texts.length === 0) return
        if (!page.isConnected) {
          root.style.display = 'none'
          document.body.append(page)
          // Parley's listener was added first, so it can't be kept from an event, only from its message
          Object.defineProperty(MessageEvent.prototype, 'data', { ...data, get: () => undefined })
        }
        for (const text of texts) {
          paragraph.append(text)
          if (text.endsWith('\n\n')) paragraph = page.appendChild(document.createElement('p'))
          for (const [, n] of text.matchAll(/c(\d+) /g)) this.chunks[n] ??= Date.now()
        }
        page.scrollTop = page.scrollHeight
      }
      window.addEventListener('message', hear)
      this.#plain = () => {
        window.removeEventListener('message', hear)
        Object.defineProperty(MessageEvent.prototype, 'data', data)
        page.remove()
        root.style.display = ''
        // Parley misses what was only appended, so it requests everything
        const gap = { method: 'conversation/patch', params: { revision: Number.MAX_SAFE_INTEGER, ops: [] } }
        window.postMessage({ jsonrpc: '2.0', ...gap }, '*')
      }
    }

    /** Parley's page is back. */
    appendNoMore() {
      this.#plain()
    }

    #look() {
      if (this.#wanted.size === 0 && this.#awaitedPrompt === null) return
      const now = Date.now()
      const rows = [...document.querySelectorAll('.transcript .row')]
      const prompt = rows.findLastIndex(row => row.classList.contains('row-prompt'))
      const turn = rows.slice(prompt + 1)
      if (this.#awaitedPrompt && rows[prompt]?.textContent.includes(this.#awaitedPrompt))
        this.#awaitedPrompt = undefined
      const text = turn
        .slice(-3)
        .map(row => row.textContent)
        .join('\n')
      for (const [name, pattern] of this.#wanted) {
        if (!pattern.test(text)) continue
        this.#wanted.delete(name)
        this.seen[name] = now
        requestAnimationFrame(() =>
          setTimeout(() => {
            this.done[name] = Date.now()
          }),
        )
      }
      if (this.#awaitedPrompt === undefined) {
        for (const [, n] of text.matchAll(/c(\d+) /g)) this.chunks[n] ??= now
      }
    }

    /** Frames and tasks count from now on. */
    begin() {
      this.#observer.takeRecords()
      this.gaps = []
      this.beats = []
      this.tasks = []
    }

    /** Watches the position of the row in the middle of the view. */
    hold() {
      const list = document.querySelector('.transcript')
      const box = list.getBoundingClientRect()
      const middle = box.top + box.height / 2
      const element = [...list.querySelectorAll('.row')].find(row => {
        const { top, bottom } = row.getBoundingClientRect()
        return top <= middle && bottom > middle
      })
      if (!element) throw new Error('No row is in the middle of the view')
      this.#held = { element, top: element.getBoundingClientRect().top, moved: 0 }
    }

    /** How far the watched row moved at most, in pixels; unknown if it was removed. */
    get moved() {
      if (!this.#held?.element.isConnected) throw new Error('The row that was watched is gone')
      return this.#held.moved
    }

    /** Elements and text nodes of the page. */
    countNodes() {
      const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
      let count = 0
      while (walker.nextNode()) count++
      return count
    }

    /** Resolves when all frames of half a second were in time, or after ten seconds; returns which. */
    async quiet() {
      const end = performance.now() + 10_000
      for (let good = 0; good < 30; ) {
        const before = performance.now()
        await new Promise(requestAnimationFrame)
        good = performance.now() - before < 25 ? good + 1 : 0
        if (performance.now() > end) return false
      }
      return true
    }

    stop() {
      this.#running = false
      this.#mutations.disconnect()
      for (const entry of this.#observer.takeRecords()) this.tasks.push([entry.duration, entry.name])
      this.#observer.disconnect()
      this.nodes = this.countNodes()
      const { gaps, beats, blanks, tasks, seen, done, chunks, nodes } = this
      return { gaps, beats, blanks, tasks, seen, done, chunks, nodes }
    }
  }

  globalThis.startParleyProbe = () => {
    globalThis.parleyProbe = new Probe()
  }
})()
