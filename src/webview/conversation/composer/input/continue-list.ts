import { insertNewline } from '@codemirror/commands'
import type { StateCommand } from '@codemirror/state'

/** The marker of a list item: indentation, bullet or number, and checkbox. */
const ITEM = /^(\s*)(?:([-*+])|(\d{1,3})([.)]))(\s+)(\[[ xX]\]\s+)?/
const FENCE = /^\s*(?:```|~~~)/gm

/** Inserts a line break. In a list item, the next item begins; in an empty item, the list ends. */
export const insertLineBreak: StateCommand = target => {
  const { state, dispatch } = target
  const { main, ranges } = state.selection
  const line = state.doc.lineAt(main.head)
  const [marker, indent, bullet, number, after, space, box] = ITEM.exec(line.text) ?? []
  const isInMarker = main.head < line.from + (marker?.length ?? 0)
  const isCode = () => ((state.sliceDoc(0, line.from).match(FENCE)?.length ?? 0) & 1) === 1
  if (marker === undefined || ranges.length > 1 || !main.empty || isInMarker || isCode())
    return insertNewline(target)
  const isEmpty = marker.length === line.text.trimEnd().length || line.text.slice(marker.length).trim() === ''
  const next = `\n${indent}${bullet ?? `${Number(number) + 1}${after}`}${space}${box ? '[ ] ' : ''}`
  const change = isEmpty ? { from: line.from, to: line.to, insert: '' } : { from: main.head, insert: next }
  dispatch(
    state.update({
      changes: change,
      selection: { anchor: change.from + change.insert.length },
      scrollIntoView: true,
      userEvent: 'input',
    }),
  )
  return true
}
