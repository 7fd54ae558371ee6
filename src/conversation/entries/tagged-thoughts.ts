/** Names of the tags around thoughts that some models write into their answer. */
const TAGS = ['think', 'thinking']
const OPENING = TAGS.map(tag => `<${tag}>`)

/** The parser's state in an answer, so that the cost of the next piece doesn't depend on the answer's length. A plain, copyable object. */
export interface AnswerText {
  /** The tag of the open thought. */
  tag?: string
  /** Text that may begin a tag; hidden until the next text shows whether it does. */
  held: string
  /** White space is skipped, since it's next to a tag and isn't part of the text. */
  skipsSpace: boolean
  /** The open code span or fence: the marks that close it. */
  code?: { mark: string; length: number; isFence: boolean }
  /** The position is in the first line of a fence, after its marks. */
  inInfo: boolean
  /** The line closes a fence unless other text follows in the line. */
  closes: boolean
  /** the marks at the end of the text, which more marks may follow */
  run?: { mark: string; length: number; startsLine: boolean }
  /** The line so far has only white space and the markup of quotations and lists. */
  isLineStart: boolean
  /** The line so far has only white space and the markup of quotations. */
  isBlankLine: boolean
  isEscaped: boolean
}

/** A part of an answer's text: an answer for the reader, or a thought. */
export interface AnswerPart {
  role: 'agent' | 'thought'
  text: string
}

export function beginAnswer(tag?: string): AnswerText {
  const state: AnswerText = {
    held: '',
    skipsSpace: false,
    inInfo: false,
    closes: false,
    isLineStart: true,
    isBlankLine: true,
    isEscaped: false,
  }
  return tag === undefined ? state : { ...state, tag }
}

/**
 * Reads the next piece of an answer's text. A `<think>` begins a thought unless it's in code or escaped. Code is recognized as in
 * CommonMark, but while the answer is streamed: backticks count as code until the paragraph ends, even if they are never closed.
 */
export function readAnswer(state: AnswerText, text: string): AnswerPart[] {
  const parts: AnswerPart[] = []
  const add = (shown: string) => {
    const role = state.tag === undefined ? 'agent' : 'thought'
    const last = parts.at(-1)
    if (last?.role === role) last.text += shown
    else if (shown !== '') parts.push({ role, text: shown })
  }
  /** the start of the text that isn't in `parts` yet */
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (state.held !== '') {
      const held = state.held + character
      const tags = state.tag === undefined ? OPENING : [`</${state.tag}>`]
      if (tags.includes(held)) {
        const tag = state.tag === undefined ? held.slice(1, -1) : undefined
        restart(state, tag)
        state.skipsSpace = true
        from = at + 1
        continue
      }
      if (tags.some(tag => tag.startsWith(held))) {
        state.held = held
        from = at + 1
        continue
      }
      add(state.held)
      state.held = ''
      from = at
    }
    if (state.skipsSpace) {
      if (/\s/.test(character)) {
        from = at + 1
        continue
      }
      state.skipsSpace = false
    }
    if (character === '<' && mayBeTag(state)) {
      add(text.slice(from, at))
      state.held = '<'
      from = at + 1
    }
    if (state.tag === undefined) follow(state, character)
  }
  add(text.slice(from))
  return parts
}

/** Returns the held text as normal text, since no more text follows in this block. */
export function releaseAnswer(state: AnswerText): AnswerPart[] {
  const { held, tag } = state
  restart(state, tag)
  return held === '' ? [] : [{ role: tag === undefined ? 'agent' : 'thought', text: held }]
}

/** Resets the state to the beginning of an answer, or of a thought in an answer. */
function restart(state: AnswerText, tag: string | undefined): void {
  for (const key of ['tag', 'code', 'run'] as const) delete state[key]
  Object.assign(state, beginAnswer(tag))
}

function mayBeTag(state: AnswerText): boolean {
  if (state.tag !== undefined) return true
  endRun(state)
  return state.code === undefined && !state.isEscaped
}

function follow(state: AnswerText, character: string): void {
  if (character === '`' || character === '~') {
    if (state.run?.mark === character) {
      state.run.length += 1
      return
    }
    endRun(state)
    if (state.isEscaped) state.isEscaped = false
    else state.run = { mark: character, length: 1, startsLine: state.isLineStart }
    state.isLineStart = false
    state.isBlankLine = false
    return
  }
  endRun(state)
  if (character === '\n') {
    if (state.closes || (state.isBlankLine && state.code?.isFence === false)) delete state.code
    state.inInfo = false
    state.closes = false
    state.isEscaped = false
    state.isLineStart = true
    state.isBlankLine = true
    return
  }
  state.isEscaped = character === '\\' && !state.isEscaped && state.code === undefined
  if (character === ' ' || character === '\t' || character === '\r') return
  state.closes = false
  if (character !== '>') state.isBlankLine = false
  if (state.isLineStart && !/[>\-*+\d.)]/.test(character)) state.isLineStart = false
}

/** Ends a run of marks when other text follows. */
function endRun(state: AnswerText): void {
  const { run, code } = state
  if (!run) return
  delete state.run
  const { mark, length, startsLine } = run
  if (code?.isFence) {
    // marks in the first line: the fence is really code within a line
    if (state.inInfo && code.mark === '`' && mark === '`') {
      state.inInfo = false
      if (length === code.length) delete state.code
      else state.code = { ...code, isFence: false }
    } else state.closes = startsLine && mark === code.mark && length >= code.length
  } else if (startsLine && length >= 3) {
    state.code = { mark, length, isFence: true }
    state.inInfo = true
  } else if (mark !== '`') return
  else if (!code) state.code = { mark, length, isFence: false }
  else if (length === code.length) delete state.code
}
