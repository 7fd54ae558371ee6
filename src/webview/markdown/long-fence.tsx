import { useSignalEffect } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { CodeLines } from '../tools/code-lines.tsx'
import { codeBarHtml, setCodeOf } from './code.ts'
import type { MarkdownDocument } from './document.ts'
import { FENCE_OPENING, fenceInfo } from './fence-info.ts'

/** The lines of a fence that may grow, split incrementally. */
class FenceLines {
  lines: string[] = []
  info = ''
  #source = ''

  update(source: string): void {
    if (source === this.#source) return
    let read = this.#source.length
    if (read === 0 || !source.startsWith(this.#source)) {
      const opening = FENCE_OPENING.exec(source)
      this.info = opening?.[1] ?? ''
      read = opening?.[0].length ?? 0
      this.lines = ['']
    }
    this.#source = source
    const [first = '', ...more] = source.slice(read).split('\n')
    this.lines = this.lines.slice(0, -1).concat(this.lines.at(-1)! + first, more)
  }

  /** The lines of the code, without the line that ends the fence. */
  get code(): readonly string[] {
    const { lines } = this
    let end = lines.length
    while (end > 0 && lines[end - 1]!.trim() === '') end--
    return /^ {0,3}(?:`{3,}|~{3,})[ \t]*$/.test(lines[end - 1] ?? '') ? lines.slice(0, end - 1) : lines
  }
}

interface Props {
  document: MarkdownDocument
  part: number
}

/** A long code block with its own scroll area, which follows the end while it grows. */
export function LongFence({ document: text, part }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const [, setVersion] = useState(0)
  const fence = useMemo(() => new FenceLines(), [text, part])
  useSignalEffect(() => setVersion(text.watch(part).value))
  const block = text.blocks[part]
  if (block) fence.update(block.source)
  const { code } = fence
  const about = fenceInfo(fence.info.trim())
  const { language, path, from, to } = about
  const bar = useMemo(() => codeBarHtml(about), [fence.info])
  useLayoutEffect(() => {
    if (element.current) setCodeOf(element.current, () => fence.code.join('\n'))
  }, [fence])
  return (
    <div class="prose" dir="auto">
      <div
        ref={element}
        class="code-block"
        data-language={language || undefined}
        data-path={path}
        data-line={from}
        data-end={to}
      >
        <div class="code-bar-frame" dangerouslySetInnerHTML={{ __html: bar }} />
        <CodeLines lines={code} language={language} follow={!block?.closed} />
      </div>
    </div>
  )
}
