import type { ContentBlock } from '../../acp/model.ts'
import { isText, textOf } from '../blocks.ts'
import type { Entry, MessageEntry } from '../state.ts'
import { isPrompt } from '../user-prompts.ts'
import { runAllSteps, StepBudget, type SteppedWork } from './stepped-work.ts'

/** Minimum length of equal answers that aren't a coincidence. Characters. */
const MIN_ANSWER = 20
/** Minimum length of a common start of two texts that shows that they are versions of the same answer. Characters. */
export const MIN_COMMON = 40
/** Maximum number of comparisons; beyond that, a turn is searched only within {@link NEAR} turns of its expected position. */
const MAX_COMPARISONS = 250_000
const NEAR = 50

/** The entries of one turn, with the texts by which turns are compared. */
export interface TurnEntries {
  /** number of the turn; 0: the entries before the first prompt */
  turn: number
  entries: readonly Entry[]
  prompt: MessageEntry | undefined
  /** the prompt without white space, since agents wrap lines differently */
  promptText: string
  /** the text of each message, without white space */
  texts: ReadonlyMap<Entry, string>
  /** the agent's answer, without white space */
  answer: string
  /** the agent's thoughts, without white space; many agents replay none */
  thought: string
  /** ids of the turn's tool calls */
  tools: ReadonlySet<string>
  /** titles of the turn's tool calls, since some agents use other ids in a replay */
  calls: ReadonlySet<string>
}

/** Returns the text without white space, since agents wrap lines differently. A regular expression would allocate too much. */
export function withoutSpace(text: string): string {
  if (units.length < text.length) units = new Uint16Array(Math.min(2 * text.length, MAX_SHARED_UNITS))
  const into = units.length < text.length ? new Uint16Array(text.length) : units
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (!isSpace(unit)) into[length++] = unit
  }
  return length === text.length ? text : Buffer.from(into.buffer, 0, 2 * length).toString('utf16le')
}

/** Maximum length of a text, in UTF-16 units, for the buffer that is reused to avoid garbage collection of thousands of arrays. */
const MAX_SHARED_UNITS = 1 << 16
let units = new Uint16Array(1 << 12)

export function isSpace(unit: number): boolean {
  return unit <= 0x20 || unit === 0xa0 || (unit >= 0x2000 && unit <= 0x200b) || unit === 0x3000
}

/** Splits both sides into turns. Agents replay consecutive prompts without an answer as one prompt, which is split again. */
export function* splitTurns(
  known: readonly Entry[],
  replay: readonly Entry[],
  budget: StepBudget,
): SteppedWork<[known: readonly TurnEntries[], replay: readonly TurnEntries[]]> {
  const ours = yield* turnsOf(known, budget)
  const theirs: TurnEntries[] = []
  for (const turn of yield* turnsOf(replay, budget)) {
    theirs.push(...splitPrompt(turn, ours))
    if (budget.isSpent()) yield
  }
  return [ours, joinSteered(ours, theirs)]
}

/** Joins the replayed turns of prompts that the user added to a running turn with that turn: agents replay them as separate turns. */
function joinSteered(ours: readonly TurnEntries[], theirs: readonly TurnEntries[]): readonly TurnEntries[] {
  const steered = ours.filter(turn => steeredTexts(turn).length > 0)
  if (steered.length === 0) return theirs
  const joined: TurnEntries[] = []
  /** the prompts added to the last turn that haven't been found in the replay yet */
  let added: string[] = []
  for (const turn of theirs) {
    const last = joined.at(-1)
    const at = turn.prompt ? added.indexOf(turn.promptText) : -1
    if (last && at !== -1) {
      joined[joined.length - 1] = turnOf([...last.entries, ...turn.entries])
      added = added.slice(at + 1)
      continue
    }
    joined.push(turn)
    const same = steered.findIndex(known => isSamePrompt(known, turn))
    added = same === -1 ? [] : steered.splice(same, 1).flatMap(steeredTexts)
  }
  return joined
}

function steeredTexts({ entries, texts }: TurnEntries): string[] {
  return entries.flatMap(entry => {
    const text = entry.kind === 'message' && entry.steering ? texts.get(entry) : undefined
    return text ? [text] : []
  })
}

function* turnsOf(entries: readonly Entry[], budget: StepBudget): SteppedWork<TurnEntries[]> {
  const groups: Entry[][] = []
  let turn = -1
  for (const entry of entries) {
    if (entry.turn > turn || groups.length === 0) {
      groups.push([])
      turn = entry.turn
    }
    groups.at(-1)!.push(entry)
  }
  const turns: TurnEntries[] = []
  for (const group of groups) turns.push(yield* turnInSteps(group, budget))
  return turns
}

function turnOf(entries: readonly Entry[]): TurnEntries {
  return runAllSteps(turnInSteps(entries, new StepBudget()))
}

/** Number of characters that count as one unit of work, like an entry. */
const TEXT_OF_STEP = 2000

function* turnInSteps(entries: readonly Entry[], budget: StepBudget): SteppedWork<TurnEntries> {
  const turn = entries[0]?.turn ?? 0
  const prompt = turn === 0 ? undefined : entries.find(isPrompt)
  const answer: string[] = []
  const thought: string[] = []
  const texts = new Map<Entry, string>()
  const [tools, calls] = [new Set<string>(), new Set<string>()]
  for (const entry of entries) {
    if (entry.kind === 'tool_call') {
      tools.add(entry.toolCallId)
      calls.add(`${entry.toolKind} ${entry.title}`)
    } else if (entry.kind === 'message') {
      const text = withoutSpace(textOf(entry.blocks))
      texts.set(entry, text)
      if (entry.role === 'agent') answer.push(text)
      else if (entry.role === 'thought') thought.push(text)
      if (budget.isSpent(text.length / TEXT_OF_STEP)) yield
    }
    if (budget.isSpent()) yield
  }
  return {
    turn,
    entries,
    prompt,
    promptText: (prompt && texts.get(prompt)) ?? '',
    texts,
    answer: answer.join(''),
    thought: thought.join(''),
    tools,
    calls,
  }
}

/** Splits a replayed prompt of several blocks into the consecutive prompts that it was originally. */
function splitPrompt(turn: TurnEntries, ours: readonly TurnEntries[]): TurnEntries[] {
  const { prompt, promptText } = turn
  if (!prompt || prompt.messageId !== undefined || prompt.blocks.length < 2) return [turn]
  if (ours.some(known => known.promptText === promptText)) return [turn]
  for (let first = 0; first < ours.length; first++) {
    const pieces = piecesOf(prompt, ours.slice(first, first + prompt.blocks.length))
    if (!pieces) continue
    const last = pieces.length - 1
    return pieces.map((piece, i) => {
      const rest = i < last ? [] : turn.entries.filter(entry => entry !== prompt)
      return turnOf([piece, ...rest])
    })
  }
  return [turn]
}

function piecesOf(prompt: MessageEntry, ours: readonly TurnEntries[]): MessageEntry[] | undefined {
  const pieces: MessageEntry[] = []
  let at = 0
  for (const { promptText } of ours) {
    if (promptText === '') return undefined
    const from = at
    let text = ''
    while (at < prompt.blocks.length && text.length < promptText.length) {
      text += withoutSpace(textOf([prompt.blocks[at]!]))
      at += 1
    }
    if (text !== promptText) return undefined
    pieces.push({ ...prompt, blocks: prompt.blocks.slice(from, at) })
    if (at === prompt.blocks.length) return pieces.length > 1 ? pieces : undefined
  }
  return undefined
}

type Pair = [known: TurnEntries | undefined, replay: TurnEntries | undefined]

/** Returns pairs of the turns that both sides have, in the same order. */
export function* alignTurns(
  known: readonly TurnEntries[],
  replay: readonly TurnEntries[],
  budget: StepBudget,
): SteppedWork<Pair[]> {
  let begin = 0
  while (begin < known.length && begin < replay.length && isCertain(known[begin]!, replay[begin]!)) {
    begin += 1
    if (budget.isSpent()) yield
  }
  let [endKnown, endReplay] = [known.length, replay.length]
  while (endKnown > begin && endReplay > begin && isCertain(known[endKnown - 1]!, replay[endReplay - 1]!)) {
    endKnown -= 1
    endReplay -= 1
    if (budget.isSpent()) yield
  }
  const pairs: Pair[] = known.slice(0, begin).map((turn, i) => [turn, replay[i]])
  const [ours, theirs] = [known.slice(begin, endKnown), replay.slice(begin, endReplay)]
  const matches =
    ours.length * theirs.length <= MAX_COMPARISONS
      ? yield* bestMatches(ours, theirs, budget)
      : yield* nearMatches(ours, theirs, budget)
  let [i, j] = [0, 0]
  for (const [a, b] of [...matches, [ours.length, theirs.length] as const]) {
    for (; i < a; i++) pairs.push([ours[i], undefined])
    for (; j < b; j++) pairs.push([undefined, theirs[j]])
    if (a < ours.length && b < theirs.length) pairs.push([ours[i++], theirs[j++]])
  }
  for (let k = endKnown; k < known.length; k++) pairs.push([known[k], replay[endReplay + k - endKnown]])
  return pairs
}

/** Whether the turns have the same prompt and the same answer, up to the end of the shorter answer. */
function isCertain(a: TurnEntries, b: TurnEntries): boolean {
  if ((a.turn === 0) !== (b.turn === 0)) return false
  if (a.turn === 0) return true
  if (a.promptText !== b.promptText) return false
  if (b.thought !== '' && likeAnswers(a.thought, b.thought) === 0) return false
  if (b.tools.size > 0 && !shares(a.tools, b.tools)) return false
  return likeAnswers(a.answer, b.answer) > 0
}

/**
 * Returns how likely two turns are the same; 0: they aren't. Turns with different prompts are the same only if the agent's work is equal;
 * then both prompts stay (see `isSamePrompt`).
 */
function likeness(a: TurnEntries, b: TurnEntries): number {
  if (a.turn === 0 || b.turn === 0) return a.turn === b.turn ? 10 : 0
  const prompts = isSamePrompt(a, b) ? 4 : 0
  const shared = shares(a.tools, b.tools) ? 3 : 0
  const calls = shares(a.calls, b.calls) ? 2 : 0
  const answers = likeAnswers(a.answer, b.answer)
  const sameWork = (shared > 0 && calls > 0) || (answers === 4 && a.answer.length >= MIN_ANSWER)
  if (prompts === 0 && !(sameWork && answers > 0)) return 0
  // equal ids of tool calls alone prove little: some agents count tool calls in each turn
  if (!(shared > 0 && calls > 0) && differ(a, b)) return 0
  const thoughts = b.thought === '' ? 0 : likeAnswers(a.thought, b.thought)
  return 1 + prompts + shared + calls + answers + thoughts
}

/**
 * Whether a replayed prompt is the known prompt, which is shown as the user wrote it: the two are equal apart from white space, differ only
 * in the form of the mentions, or the replay has more blocks before or after the known prompt. No measured agent cuts prompts, so a
 * replayed prompt that is the beginning of a known one is another prompt.
 */
export function isSamePrompt(known: TurnEntries, replayed: TurnEntries): boolean {
  // without a prompt: entries before the first prompt
  if (!known.prompt || !replayed.prompt) return known.prompt === replayed.prompt
  if (known.promptText === replayed.promptText) return true
  if (besidePrompt(known, replayed)) return true
  const { blocks } = known.prompt
  if (blocks.every(isText)) return false
  let at = 0
  for (const [i, block] of blocks.entries()) {
    const found = namesOf(block)
      .map(name => ({ name, start: replayed.promptText.indexOf(name, at) }))
      .find(({ start }) => start !== -1)
    if (!found || (i === 0 && isText(block) && found.start > 0)) return false
    at = found.start + found.name.length
  }
  return true
}

/** Returns the blocks before or after the known prompt in a replayed prompt, such as the agent's notes to its model (Kimi Code). */
export function besidePrompt(known: TurnEntries, replayed: TurnEntries): ContentBlock[] | undefined {
  const blocks = replayed.prompt?.blocks ?? []
  if (known.promptText === '' || !replayed.promptText.includes(known.promptText)) return undefined
  let [before, after] = ['', '']
  for (let count = 1; count < blocks.length; count++) {
    before += withoutSpace(textOf(blocks.slice(count - 1, count)))
    after = withoutSpace(textOf(blocks.slice(-count, blocks.length - count + 1))) + after
    if (before === known.promptText) return blocks.slice(count)
    if (after === known.promptText) return blocks.slice(0, -count)
  }
  return undefined
}

/** Returns the texts, without white space, that may represent a block of the known prompt in a replay. */
function namesOf(block: ContentBlock): string[] {
  if (isText(block)) return [withoutSpace(textOf([block]))]
  if (block.type !== 'resource_link' && block.type !== 'resource') return []
  const last = block.uri.slice(block.uri.lastIndexOf('/') + 1)
  const names = [...('name' in block ? [block.name] : []), last]
  return names.map(withoutSpace).filter(name => name !== '')
}

/** Whether both turns have an answer, and neither contains the other's answer. */
function differ(a: TurnEntries, b: TurnEntries): boolean {
  if (a.answer === '' || b.answer === '' || likeAnswers(a.answer, b.answer) > 0) return false
  const contains = (turn: TurnEntries, other: TurnEntries) =>
    other.entries.some(entry => {
      if (entry.kind !== 'message' || entry.role !== 'agent') return false
      const text = other.texts.get(entry) ?? ''
      return text !== '' && turn.answer.includes(text)
    })
  if (contains(a, b) || contains(b, a)) return false
  const least = Math.max(MIN_COMMON, 0.8 * Math.min(a.answer.length, b.answer.length))
  return commonLength(a.answer, b.answer) < least
}

/** Returns the length of the common start of two texts. */
export function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1
  return length
}

function likeAnswers(a: string, b: string): number {
  if (a === '' || b === '') return a === b ? 1 : 0
  if (a === b) return 4
  return a.startsWith(b) || b.startsWith(a) ? 2 : 0
}

function shares(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  for (const id of few) if (many.has(id)) return true
  return false
}

/** Returns the pairs with the highest total score, in the same order on both sides. */
function* bestMatches(
  ours: readonly TurnEntries[],
  theirs: readonly TurnEntries[],
  budget: StepBudget,
): SteppedWork<Array<[number, number]>> {
  const width = theirs.length + 1
  const best = new Float64Array((ours.length + 1) * width)
  const score = new Uint8Array(ours.length * theirs.length)
  for (let i = ours.length - 1; i >= 0; i--) {
    for (let j = theirs.length - 1; j >= 0; j--) {
      const like = likeness(ours[i]!, theirs[j]!)
      score[i * theirs.length + j] = like
      const with_ = like > 0 ? like + best[(i + 1) * width + j + 1]! : 0
      best[i * width + j] = Math.max(with_, best[(i + 1) * width + j]!, best[i * width + j + 1]!)
    }
    if (budget.isSpent(theirs.length)) yield
  }
  const matches: Array<[number, number]> = []
  let [i, j] = [0, 0]
  while (i < ours.length && j < theirs.length) {
    const here = best[i * width + j]!
    const like = score[i * theirs.length + j]!
    if (like > 0 && here === like + best[(i + 1) * width + j + 1]!) matches.push([i++, j++])
    else if (here === best[(i + 1) * width + j]!) i += 1
    else j += 1
  }
  return matches
}

function* nearMatches(
  ours: readonly TurnEntries[],
  theirs: readonly TurnEntries[],
  budget: StepBudget,
): SteppedWork<Array<[number, number]>> {
  const matches: Array<[number, number]> = []
  let from = 0
  for (let j = 0; j < theirs.length; j++) {
    let [found, most] = [-1, 0]
    for (let i = from; i < Math.min(ours.length, from + NEAR); i++) {
      const like = likeness(ours[i]!, theirs[j]!)
      if (like > most) [found, most] = [i, like]
      if (isCertain(ours[i]!, theirs[j]!)) break
    }
    if (budget.isSpent(NEAR)) yield
    if (found === -1) continue
    matches.push([found, j])
    from = found + 1
  }
  return matches
}
