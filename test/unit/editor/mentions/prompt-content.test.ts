import assert from 'node:assert/strict'
import type { ContentBlock } from '../../../../src/acp/model.ts'
import { blockToWire } from '../../../../src/acp/wire/content.ts'
import { MAX_IMAGE_SIDE } from '../../../../src/common/image-info.ts'
import type { PathMapping } from '../../../../src/common/path-mapping.ts'
import type { PromptPart } from '../../../../src/conversation/attachment.ts'
import {
  type ContextSources,
  MAX_FILE_BYTES,
  promptContent,
} from '../../../../src/editor/mentions/prompt-content.ts'

const roots = { cwd: '/w', additionalDirectories: [] }
const png = (width: number, height: number) => {
  const bytes = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR--------', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}
const images: Record<string, Buffer> = {
  '/w/shot.png': png(MAX_IMAGE_SIDE, 10),
  '/w/huge.png': png(9000, 10),
  '/w/really-png.jpg': png(10, 10),
}
const files: Record<string, string> = {
  '/w/a.ts': 'one\ntwo\nthree\n',
  '/w/big.ts': 'x'.repeat(MAX_FILE_BYTES + 1),
  '/w/shot.png': 'png bytes',
  '/w/huge.png': 'png bytes',
  '/w/really-png.jpg': 'png bytes',
  '/w/photo.heic': 'heic bytes',
  '/else/secret.txt': 'secret',
}
const sources: ContextSources = {
  mayRead: async file => file.startsWith('/w/'),
  size: async file => files[file]?.length,
  readText: async file => (file === '/w/binary' ? undefined : files[file]),
  readBytes: async file => images[file] ?? Buffer.from(files[file] ?? ''),
  problems: async uri => (uri === undefined ? 'a.ts:1: error: no' : ''),
  changes: async staged => (staged ? '' : 'diff --git a b'),
  async revision({ ref }) {
    if (ref === 'slow') throw new Error('Git took too long.')
    return ref === 'gone' ? undefined : ref === 'same' ? '' : 'diff --git c d'
  },
}
const able = { image: true, audio: true, embeddedContext: true }
const unable = { image: false, audio: false, embeddedContext: false }
const make = (parts: PromptPart[], prompt = able, pathMappings?: PathMapping[]): Promise<ContentBlock[]> =>
  promptContent(
    parts,
    { agentName: 'Codex', can: { prompt, ...(pathMappings && { pathMappings }) }, roots },
    sources,
  )
const file = (path: string): PromptPart => ({ type: 'file', uri: `file://${path}`, label: path.slice(1) })

describe('creating a prompt', () => {
  it('embeds a file at its position in the text if the agent supports embedded context', async () => {
    const blocks = await make([{ type: 'text', text: 'See ' }, file('/w/a.ts'), { type: 'text', text: '.' }])
    assert.deepEqual(blocks, [
      { type: 'text', text: 'See ' },
      { type: 'resource', uri: 'file:///w/a.ts', mimeType: 'text/typescript', text: files['/w/a.ts'] },
      { type: 'text', text: '.' },
    ])
  })

  it('gives an agent on another machine the text of files, since it has no file at the path', async () => {
    const symbol: PromptPart = {
      ...{ type: 'symbol', uri: 'file:///w/a.ts', label: 'two' },
      ...{ startLine: 2, endLine: 2 },
    }
    assert.deepEqual(await make([{ type: 'text', text: 'See ' }, file('/w/a.ts')], unable, []), [
      { type: 'text', text: 'See \na.ts:\n```\none\ntwo\nthree\n\n```\n' },
    ])
    const [text] = await make([symbol], unable, [])
    assert.ok(text?.type === 'text' && text.text.includes('two') && !text.text.includes('three'))
    const picture: PromptPart = { type: 'image', data: '', mimeType: 'image/png', uri: 'file:///w/shot.png' }
    await assert.rejects(make([picture], unable, []), /doesn't support images/)
    assert.equal((await make([picture], unable))[0]?.type, 'resource_link')
  })

  it("links a file if the agent doesn't support that, or if it's large, binary, missing or outside of the roots", async () => {
    const link = { type: 'resource_link', mimeType: 'text/typescript' }
    assert.deepEqual(await make([file('/w/a.ts')], unable), [
      { ...link, uri: 'file:///w/a.ts', name: 'w/a.ts', size: 14 },
    ])
    assert.deepEqual(await make([file('/w/big.ts')]), [
      { ...link, uri: 'file:///w/big.ts', name: 'w/big.ts', size: MAX_FILE_BYTES + 1 },
    ])
    assert.deepEqual(await make([file('/w/gone.ts')]), [
      { ...link, uri: 'file:///w/gone.ts', name: 'w/gone.ts' },
    ])
    assert.deepEqual(await make([file('/else/secret.txt')]), [
      { type: 'resource_link', uri: 'file:///else/secret.txt', name: 'else/secret.txt' },
    ])
  })

  it('embeds only a limited amount in total', async () => {
    const many = Array.from({ length: 5 }, () => file('/w/a.ts'))
    const large = {
      ...sources,
      size: async () => MAX_FILE_BYTES,
      readText: async () => 'x'.repeat(MAX_FILE_BYTES),
    }
    const blocks = await promptContent(many, { agentName: 'x', can: { prompt: able }, roots }, large)
    assert.deepEqual(
      blocks.map(block => block.type),
      ['resource', 'resource', 'resource', 'resource', 'resource_link'],
    )
  })

  it('sends an image if the agent supports images, else a link', async () => {
    const [image] = await make([file('/w/shot.png')])
    const data = png(MAX_IMAGE_SIDE, 10).toString('base64')
    assert.deepEqual(image, { type: 'image', data, mimeType: 'image/png', uri: 'file:///w/shot.png' })
    const [link] = await make([image!], unable)
    assert.deepEqual(link, {
      type: 'resource_link',
      uri: 'file:///w/shot.png',
      name: 'shot.png',
      mimeType: 'image/png',
    })
  })

  it('links an image that models may refuse, and says the actual type of another', async () => {
    for (const name of ['huge.png', 'photo.heic'])
      assert.equal(
        (await make([file(`/w/${name}`)], { ...able, embeddedContext: false }))[0]?.type,
        'resource_link',
      )
    const [image] = await make([file('/w/really-png.jpg')])
    assert.equal(image?.type === 'image' && image.mimeType, 'image/png')
  })

  it("explains what the agent doesn't support and what isn't on disk", async () => {
    const image: PromptPart = { type: 'image', data: 'AA==', mimeType: 'image/png' }
    await assert.rejects(make([image], unable), /Codex doesn't support images/)
    await assert.rejects(
      make([{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }], unable),
      /doesn't support audio/,
    )
  })

  it('extracts a symbol from its file', async () => {
    const symbol: PromptPart = {
      type: 'symbol',
      uri: 'file:///w/a.ts',
      startLine: 2,
      endLine: 3,
      label: 'two()',
    }
    const uri = 'file:///w/a.ts#L2-L3'
    assert.deepEqual(await make([symbol]), [
      { type: 'resource', uri, mimeType: 'text/typescript', text: 'two\nthree' },
    ])
    assert.deepEqual(await make([symbol], unable), [{ type: 'resource_link', uri, name: 'two()' }])
  })

  it("writes problems and changes to the text in a fence if they can't be embedded", async () => {
    const parts: PromptPart[] = [
      { type: 'text', text: 'Mend' },
      { type: 'problems', label: 'Problems' },
      { type: 'changes', staged: false, label: 'Unstaged Changes' },
    ]
    const embedded = await make(parts)
    assert.deepEqual(
      embedded.map(block => ('uri' in block ? block.uri : '')),
      ['', 'parley:problems', 'parley:changes/unstaged'],
    )
    const [all, ...rest] = await make(parts, unable)
    assert.deepEqual(rest, [])
    assert.ok(all?.type === 'text')
    assert.match(all.text, /^Mend\n.*\n```\na\.ts:1: error: no\n```\n/)
    assert.match(all.text, /```\ndiff --git a b\n```\n$/)
    const tricky: PromptPart = { type: 'resource', uri: 'parley:terminal/x', text: '````\nx' }
    const [fenced] = await make([tricky], unable)
    assert.match(fenced?.type === 'text' ? fenced.text : '', /\n`{5}\n````\nx\n`{5}\n$/)
  })

  it('embeds a commit or the diff of a branch, and reports one that is gone', async () => {
    const revision = (ref: string): PromptPart => ({ type: 'revision', ref, base: 'main', label: 'moons' })
    const [known] = await make([revision('moons')])
    assert.ok(known?.type === 'resource')
    assert.deepEqual([known.uri, known.text], ['parley:revision/moons', 'diff --git c d'])
    const [same] = await make([revision('same')])
    assert.equal(same?.type === 'resource' && same.text, 'There are no changes.')
    await assert.rejects(make([revision('gone')]), /Git doesn't know moons/)
    await assert.rejects(make([revision('slow')]), /Can't add moons: Git took too long\./)
  })

  it('passes the text of a prompt file on as text, also to an agent that embeds', async () => {
    const file = { type: 'resource', uri: 'parley:prompt/x', text: 'Do it', asText: true } as const
    for (const can of [able, unable]) {
      const blocks = await make([file, { type: 'text', text: ' now' }], can)
      assert.deepEqual(blocks, [
        { ...file, text: 'Do it\n\n' },
        { type: 'text', text: ' now' },
      ])
      assert.deepEqual(await make([file], can), [file])
      assert.deepEqual(blockToWire(file), { type: 'text', text: 'Do it' })
    }
  })

  it('reports that there is nothing to send', async () => {
    const [none] = await make([{ type: 'changes', staged: true, label: 'Staged Changes' }])
    assert.equal(none?.type === 'resource' && none.text, 'There are no changes.')
  })
})
