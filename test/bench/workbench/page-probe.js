// Runs in the frame of the Conversation view: notes when text stands in the page, how long frames and tasks take, and
// whether what is looked at stays in place. Evaluated as text, so that no transpiler adds what the page does not have.
;(() => {
  /** The frame rate that gaps are collected at most for: an hour at 60 a second. */
  const mostGaps = 216_000

  class Probe {
    /** milliseconds between two frames as scripts see them, in their order */
    gaps = []
    /** milliseconds between the points in time that those frames were made for */
    beats = []
    /** frames in which a part of the view had no rows; counted on demand */
    blanks = 0
    /** tasks of more than 50 ms: `[milliseconds, whose]` */
    tasks = []
    /** by the text that was waited for: when it stood in the page, and when that frame was done (epoch ms) */
    seen = {}
    done = {}
    /** when chunk n of a stream stood in the page (epoch ms) */
    chunks = []
    nodes = 0
    #wanted = new Map()
    /** of the turn whose chunks are noted; undefined once it was seen to start, null when none is */
    #awaitedPrompt = null
    #running = true
    #last = performance.now()
    #lastBeat = performance.now()
    #scrolled
    #copy
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

    /** Wants a text, given as a regular expression, in the last rows of the conversation. */
    want(name, pattern) {
      this.#wanted.set(name, new RegExp(pattern))
    }

    /** Notes each chunk `cN ` from when this prompt is in the page; before it there may be chunks of other turns. */
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

    /** The space that stands for rows above or below those in the page is in view. */
    #isBlank({ list, above, below }) {
      const { top, bottom } = list.getBoundingClientRect()
      const [before, after] = [above.getBoundingClientRect(), below.getBoundingClientRect()]
      return (before.height > 0 && before.bottom > top + 1) || (after.height > 0 && after.top < bottom - 1)
    }

    /** Counts from here on the frames in which a part of the view has no rows. */
    watchBlanks() {
      const list = document.querySelector('.transcript')
      const [above, below] = list.querySelectorAll('[role=log] > [role=presentation]')
      this.#scrolled = { list, above, below }
    }

    /** Lays over the list a copy of what is in it, so often that it is as high: scrolled, it costs what drawing costs. */
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

    /** Says how far the copy was scrolled from its end. */
    takeStillCopy() {
      const { list, copy } = this.#copy
      const way = copy.scrollHeight - copy.clientHeight - copy.scrollTop
      copy.remove()
      list.style.visibility = ''
      return way
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

    /** Frames and tasks count from here on. */
    begin() {
      this.#observer.takeRecords()
      this.gaps = []
      this.beats = []
      this.tasks = []
    }

    /** Watches the place of the row that is in the middle of the view. */
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

    /** How far the watched row was from its place at most, in pixels; of a row that is gone no one knows. */
    get moved() {
      if (!this.#held?.element.isConnected) throw new Error('The row that was watched is gone')
      return this.#held.moved
    }

    /** Elements and texts of the page. */
    countNodes() {
      const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
      let count = 0
      while (walker.nextNode()) count++
      return count
    }

    /** Resolves when half a second of frames came in time, or after ten seconds: says whether they did. */
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
