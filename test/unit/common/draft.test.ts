import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  attachedItems,
  type Draft,
  draftOf,
  draftParts,
  inText,
  isEmptyDraft,
  joinDrafts,
  validDraft,
  wordsFor,
} from '../../../src/common/draft.ts'

interface Item {
  id: string
  label: string
  type: string
  name: string
}
interface Block {
  type: string
  text?: string
  name?: string
}

let last = 0
const link = (name: string): Item => ({ id: `i${++last}`, label: name, type: 'resource_link', name })
const image = (name: string): Item => ({ id: `i${++last}`, label: name, type: 'image', name })

/** A draft of texts and items; the label of each item is in the text. */
function written(...parts: Array<string | Item>): Draft<Item> {
  const draft: Draft<Item> = { text: '', chips: [], items: [] }
  for (const part of parts) {
    if (typeof part === 'string') {
      draft.text += part
      continue
    }
    const from = draft.text.length
    draft.text += wordsFor(part.label)
    draft.chips.push({ from, to: draft.text.length, id: part.id })
    draft.items.push(part)
  }
  return draft
}
const blocksOf = (draft: Draft<Item>): Block[] =>
  draftParts(draft).map(part => ('text' in part ? { type: 'text', text: part.text } : part.item))
const itemOf = (block: Block): Item => ({
  id: `n${++last}`,
  label: block.name ?? '',
  type: block.type,
  name: block.name ?? '',
})
/** Removes the ids, which are always new. */
const bare = (draft: Draft<Item>) => ({
  text: draft.text,
  chips: draft.chips.map(({ from, to }) => [from, to]),
  items: draft.items.map(({ type, name }) => [type, name]),
  beside: attachedItems(draft).map(({ name }) => name),
})

describe('a draft', () => {
  it('is sent in the order in which it was written, with attachments outside of the text at the end', () => {
    const draft = written('  Look at ', link('a.ts'), ' and ', link('b.ts'), '.\n')
    draft.items.unshift(image('shot'))
    assert.deepEqual(
      blocksOf(draft).map(block => block.text ?? block.name),
      ['Look at ', 'a.ts', ' and ', 'b.ts', '.', 'shot'],
    )
  })

  it('removes chips that are empty, out of range, duplicated or overlapping', () => {
    const a = link('a')
    const chips = [
      { from: 0, to: 2, id: a.id },
      { from: 1, to: 3, id: a.id },
      { from: 2, to: 9, id: a.id },
      { from: 3, to: 3, id: a.id },
      { from: 2, to: 3, id: 'who' },
    ]
    const { chips: valid } = validDraft({ text: '@a b', chips, items: [a] })
    assert.deepEqual(valid, [{ from: 0, to: 2, id: a.id }])
  })

  it('is empty without text or items', () => {
    assert.equal(isEmptyDraft({ text: ' \n', chips: [], items: [] }), true)
    assert.equal(isEmptyDraft({ text: '', chips: [], items: [link('a')] }), false)
  })

  it('is appended to another one with its chips', () => {
    const joined = joinDrafts(written('one ', link('a')), written(' '), written(link('b'), ' two'))
    assert.equal(joined.text, 'one @a\n\n@b two')
    assert.deepEqual(
      joined.chips.map(({ from, to }) => joined.text.slice(from, to)),
      ['@a', '@b'],
    )
  })

  it('keeps typed whitespace when it is appended', () => {
    assert.equal(joinDrafts(written('one'), written(' \n')).text, 'one \n')
    assert.equal(joinDrafts(written('one'), written('two'), written(' ')).text, 'one\n\ntwo ')
    assert.equal(joinDrafts(written(' ')).text, ' ')
  })

  const text = fc.stringMatching(/^[a-z\n]{0,6} $/)
  const name = fc.stringMatching(/^[a-z]{1,5}\.ts$/)
  it('is restored from the prompt that was created from it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, name), { maxLength: 5 }),
        fc.stringMatching(/^ [a-z]{1,6}$/),
        fc.array(name, { maxLength: 3 }),
        (pairs, end, pictures) => {
          const draft = written('x ', ...pairs.flatMap(([words, file]) => [words, link(file)]), end)
          draft.items.push(...pictures.map(image))
          const again = draftOf(blocksOf(draft), itemOf)
          assert.deepEqual(bare(again), bare(draft))
          assert.deepEqual(bare(draftOf(blocksOf(again), itemOf)), bare(again))
        },
      ),
    )
  })

  it('has a command in its text, also one alone', () => {
    const command = { type: 'resource', text: 'Do it', asText: true } as const
    const blocks = [command, { type: 'resource', text: 'a file' }]
    assert.deepEqual(inText(blocks), [true, false])
    assert.equal(draftOf(blocks, () => ({ id: crypto.randomUUID(), label: '/do' })).text, '/do')
  })

  it('keeps content that was only for the model separate from its text', () => {
    const blocks = [
      { type: 'resource', uri: 'context', agentOnly: true as const },
      { type: 'resource', uri: 'file' },
      { type: 'text', text: ' is what I mean' },
    ]
    assert.deepEqual(inText(blocks), [false, true, true])
  })

  it('never throws or loses an item, whatever its chips', () => {
    const chip = fc.record({ from: fc.integer(), to: fc.integer(), id: fc.constantFrom('a', 'b', 'c') })
    fc.assert(
      fc.property(fc.string(), fc.array(chip), (words, chips) => {
        const items = ['a', 'b'].map(id => ({ ...link(id), id }))
        const parts = draftParts({ text: words, chips, items })
        assert.equal(parts.filter(part => 'item' in part).length, 2)
        assert.ok(parts.every(part => !('text' in part) || part.text !== ''))
      }),
    )
  })
})
