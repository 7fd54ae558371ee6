/**
 * The code of the lines that are selected in one diff, without numbers and signs, empty lines too: the browser leaves those
 * out. Of a line that is selected in part that part. `undefined` where the selection is not within one diff.
 */
export function selectedDiff(selection: Selection): string | undefined {
  if (selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0)
  const { commonAncestorContainer: all } = range
  const lines = (all instanceof Element ? all : all.parentElement)?.closest('.diff-lines')
  if (!lines) return undefined
  return [...lines.querySelectorAll('.diff-line:not(.diff-fold, .diff-nothing)')]
    .filter(line => range.intersectsNode(line))
    .map(line => partOf(line, range))
    .join('\n')
}

function partOf(line: Element, selected: Range): string {
  const part = line.ownerDocument.createRange()
  part.selectNodeContents(line)
  if (line.contains(selected.startContainer)) part.setStart(selected.startContainer, selected.startOffset)
  if (line.contains(selected.endContainer)) part.setEnd(selected.endContainer, selected.endOffset)
  return part.toString()
}
