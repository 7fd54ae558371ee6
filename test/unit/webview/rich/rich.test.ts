import assert from 'node:assert/strict'
import fc from 'fast-check'
import { diagramWork, MAX_WORK } from '../../../../src/webview/rich/rich.ts'

const lines = (kind: string, count: number, line: (i: number) => string) =>
  [kind, ...Array.from({ length: count }, (_, i) => line(i))].join('\n')

describe('the estimated cost of a diagram', () => {
  const isLarge = (source: string) => diagramWork(source) > MAX_WORK

  it('is low for typical diagrams', () => {
    for (const source of [
      'graph TD\n A-->B\n B-->C',
      lines('flowchart LR', 80, i => `  n${i}[Node] -->|yes| n${i + 1}`),
      lines('sequenceDiagram', 200, i => `  A->>B: message ${i}`),
      lines('classDiagram', 30, i => `  class C${i} {\n    +int a\n  }\n  C${i} <|-- C${i + 1}`),
      lines('---\ntitle: A--B--C\n---\ngantt', 200, i => `  task ${i} :t${i}, 2024-01-01, 3d`),
      lines('mindmap', 60, i => `  idea ${i}`),
    ])
      assert.ok(!isLarge(source), source.slice(0, 40))
  })

  it('is high with many links and nodes', () => {
    for (const source of [
      lines('flowchart TD', 150, i => `  n${i} --> n${(i * 7) % 50}`),
      `graph TD\n${Array.from({ length: 200 }, (_, i) => `a${i}`).join(' --> ')}`,
      `graph TD;${'a-->b;'.repeat(200)}`,
      'graph TD\n a & b & c & d & e & f & g & h & i & j & k & l & m --> n & o & p & q & r & s & t & u & v & w & x & y & z',
      lines('stateDiagram-v2', 150, i => `  s${i} --> s${i + 1}`),
      lines('erDiagram', 150, i => `  A${i} ||--o{ B${i} : has`),
      lines('mindmap', 120, i => `  idea ${i}`),
      lines('sequenceDiagram', 400, i => `  A->>B: message ${i}`),
      `graph TD\n a["${'x'.repeat(30_000)}"]`,
    ])
      assert.ok(isLarge(source), source.slice(0, 40))
  })

  it('is defined for any text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 500 }), source => diagramWork(source) >= 0))
  })
})
