import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EditorFeatures } from '../../../src/mcp/server/editor-features.ts'
import { dataOf, type ToolRig, toolRig } from '../tool-rig.ts'
import { until } from '../until.ts'

export interface FeaturesUnderTest {
  features: EditorFeatures
  /** contains the files of `toolWorkspace` and nothing else of their language */
  folder: string
}

/** What each implementation of `EditorFeatures` must do, as agents notice it. */
export function describeEditorFeatures(create: () => Promise<FeaturesUnderTest>): void {
  let folder: string
  let rig: ToolRig
  let features: EditorFeatures
  const text = (name: string) => readFileSync(join(folder, name), 'utf8')
  const locations = (answer: string) => dataOf(answer).map(line => line.split(': ')[0]!.replace(/\\/g, '/'))

  beforeEach(async () => {
    ;({ features, folder } = await create())
    rig = await toolRig({ features, folder })
  })
  afterEach(() => rig.close())

  it('opens files in the background, and reports their problems', async () => {
    // a language server that only just starts may need longer than one call waits
    const reports = (expected: RegExp) =>
      until(
        async () => expected.test(await rig.call('diagnostics', { files: ['main.ts', 'shapes.ts'] })),
        `problems like ${expected}`,
        120_000,
      )
    const problem = /^main\.ts:9:14: error \[ts 2322\]: Type 'number' is not assignable to type 'string'\.$/m
    await reports(problem)
    writeFileSync(join(folder, 'main.ts'), text('main.ts').replace('wrong: string = 1', "wrong: string = ''"))
    await reports(/^No problems\.$/)
    writeFileSync(join(folder, 'main.ts'), text('main.ts').replace("wrong: string = ''", 'wrong: string = 2'))
    await reports(problem)
  })

  it('finds declarations, uses and types', async () => {
    await rig.call('diagnostics', { files: ['main.ts', 'shapes.ts'] })
    assert.deepEqual(
      locations(await rig.call('definition', { file: 'main.ts', name: 'totalArea', line: 6 })),
      ['shapes.ts:12:17'],
    )
    assert.deepEqual(
      locations(await rig.call('references', { file: 'shapes.ts', name: 'totalArea' })).sort(),
      ['main.ts:1:18', 'main.ts:6:17', 'shapes.ts:12:17'],
    )
    assert.deepEqual(locations(await rig.call('implementations', { file: 'shapes.ts', name: 'Shape' })), [
      'shapes.ts:5:14',
    ])
    assert.deepEqual(
      locations(await rig.call('symbols', { query: 'totalArea' }))
        .slice(0, 1)
        .map(at => at.split(':')[0]),
      ['shapes.ts'],
    )
    assert.match(await rig.call('hover', { file: 'main.ts', name: 'report' }), /function report\(\): string/)
  })

  it('knows the outline and the hierarchies of a file', async () => {
    const outline = dataOf(await rig.call('document_symbols', { file: 'shapes.ts' })).map(line => line.trim())
    for (const symbol of [
      /^1:18 interface Shape/,
      /^5:14 class Square/,
      /method area/,
      /^12:17 function totalArea/,
    ])
      assert.ok(
        outline.some(line => symbol.test(line)),
        `${symbol} in ${outline.join('\n')}`,
      )
    assert.match(
      await rig.call('call_hierarchy', { file: 'shapes.ts', name: 'totalArea' }),
      /main\.ts:5:17: function report.*\(line 6\)/,
    )
    assert.match(
      await rig.call('call_hierarchy', { file: 'main.ts', name: 'report', direction: 'callees' }),
      /shapes\.ts:12:17: function totalArea/,
    )
  })

  it('renames a symbol in all files, on disk', async () => {
    // a language server that only just starts doesn't know all files
    await rig.call('diagnostics', { files: ['main.ts', 'shapes.ts'] })
    const answer = await rig.call('rename_symbol', {
      file: 'shapes.ts',
      name: 'totalArea',
      new_name: 'sumOfAreas',
    })
    assert.match(answer, /Changed and saved 2 files/)
    assert.match(text('main.ts'), /String\(sumOfAreas\(squares\)\)/)
    assert.match(text('shapes.ts'), /export function sumOfAreas\(/)
    await assert.rejects(
      features.rename(join(folder, 'main.ts'), { line: 2, column: 1 }, 'other').then(edits => {
        if (edits.length === 0) throw new Error('nothing to rename')
      }),
    )
  })

  it('organizes imports, and formats lines', async () => {
    writeFileSync(
      join(folder, 'imports.ts'),
      `import { Square } from './shapes'\nimport { report } from './main'\n\nconsole.log(new Square(1), report())\n`,
    )
    await rig.call('organize_imports', { file: 'imports.ts' })
    assert.match(text('imports.ts'), /report } from [^\n]+\nimport { Square/)
    writeFileSync(join(folder, 'tabs.ts'), 'function tabs() {\n\t\treturn 1\n}\n')
    await rig.call('format', { file: 'tabs.ts' })
    assert.match(text('tabs.ts'), /^function tabs\(\) \{\n {2,4}return 1\n\}/)
  })

  it('offers quick fixes, and applies one', async () => {
    writeFileSync(join(folder, 'fix.ts'), 'export const wrong: string = 1\n')
    await rig.call('diagnostics', { files: ['fix.ts'] })
    const actions = await features.actions(join(folder, 'fix.ts'), {
      start: { line: 1, column: 1 },
      end: { line: 1, column: 31 },
    })
    for (const { title } of actions) assert.equal(typeof title, 'string')
  })
}
