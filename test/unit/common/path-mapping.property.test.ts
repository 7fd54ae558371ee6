import assert from 'node:assert/strict'
import { posix, win32 } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { PathMapper, type PathMapping } from '../../../src/common/path-mapping.ts'

const name = fc.stringMatching(/^[a-zA-Zä0-9_#%+@-]{1,6}(?:[. ][a-z]{1,3})?$/)
const names = fc.array(name, { minLength: 1, maxLength: 4 })
const posixPath = names.map(parts => `/${parts.join('/')}`)
const drive = fc.tuple(fc.constantFrom('C:', 'd:', '\\\\host\\share'), names)
const windowsPath = drive.map(([head, parts]) => [head, ...parts].join('\\'))
const anyPath = fc.oneof(posixPath, windowsPath)
const platform = fc.constantFrom<NodeJS.Platform>('linux', 'darwin', 'win32')

const world = platform.chain(on =>
  fc.record({
    on: fc.constant(on),
    mappings: fc.array(
      fc.record({ localRoot: on === 'win32' ? windowsPath : posixPath, remoteRoot: anyPath }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
  }),
)

const separatorOf = (root: string) => (root.startsWith('/') ? '/' : '\\')
const inside = (root: string, parts: readonly string[]) => [root, ...parts].join(separatorOf(root))
const folded = (text: string) => text.toLowerCase()
/** Whether the path is in a root, in the plainest way that's possible. */
const isUnder = (root: string, path: string) =>
  folded(path) === folded(root) || folded(path).startsWith(folded(root) + separatorOf(root))

describe('the paths of an agent on another machine', () => {
  it('are the same after a way there and back, as paths and as URIs', () => {
    fc.assert(
      fc.property(world, fc.nat(), fc.array(name, { maxLength: 3 }), ({ on, mappings }, pick, parts) => {
        const mapper = new PathMapper(mappings, on)
        const { localRoot, remoteRoot } = mappings[pick % mappings.length]!
        const local = inside(localRoot, parts)
        const remote = inside(remoteRoot, parts)
        assert.equal(folded(mapper.toLocal(mapper.toRemote(local))), folded(local))
        assert.equal(folded(mapper.toRemote(mapper.toLocal(remote))), folded(remote))
        const uri = `${pathToFileURL(local, { windows: on === 'win32' }).href}#L1-L2`
        assert.equal(folded(mapper.toLocal(mapper.toRemote(uri))), folded(uri))
      }),
    )
  })

  it('are changed only if they are mapped, and then into the folder that belongs to the root', () => {
    fc.assert(
      fc.property(world, anyPath, ({ on, mappings }, path) => {
        const mapper = new PathMapper(mappings, on)
        const local = mapper.toLocal(path)
        const isMapped = mappings.some(
          ({ localRoot, remoteRoot }) => isUnder(remoteRoot, path) && isUnder(localRoot, local),
        )
        if (mapper.isElsewhere(local, '/cwd'))
          assert.ok(local === path || local === `/elsewhere:${path}`, local)
        else assert.ok(isMapped, `${path} is ${local}`)
        if (!mappings.some(({ remoteRoot }) => isUnder(remoteRoot, path)))
          assert.equal(mapper.isElsewhere(local, '/cwd'), true, `${path} became ${local}`)
        // nothing that would be mistaken: not a letter is different
        const isTaken = mappings.some(({ localRoot }) => isUnder(localRoot, path))
        const isReadable = on === 'win32' ? win32.parse(path).root.length > 1 : posix.isAbsolute(path)
        if (!isTaken && isReadable && mapper.isElsewhere(local, '/cwd')) assert.equal(local, path)
      }),
    )
  })

  it('never lead out of a mapped folder', () => {
    const tricky = fc.array(
      fc.constantFrom('..', '.', 'a', 'app', 'app2', '%2e%2e', '..\\..', 'a:b', '.. '),
      {
        maxLength: 6,
      },
    )
    fc.assert(
      fc.property(world, fc.nat(), tricky, fc.boolean(), ({ on, mappings }, pick, parts, isUri) => {
        const { remoteRoot } = mappings[pick % mappings.length]!
        const mapper = new PathMapper(mappings, on)
        const text = isUri
          ? `file:///${inside(remoteRoot, parts).replace(/^\//, '').replaceAll('\\', '/')}`
          : inside(remoteRoot, parts)
        const local = mapper.toLocal(text)
        if (mapper.isElsewhere(local, '/cwd')) return
        const path = on === 'win32' ? win32 : posix
        const file = isUri
          ? decodeURIComponent(
              local.replace(/^file:\/\/(?=\/)/, '').replace(on === 'win32' ? /^\// : /^$/, ''),
            )
          : local
        const plain = on === 'win32' ? file.replaceAll('/', '\\').replace(/^file:/, '') : file
        assert.ok(
          mappings.some(({ localRoot }) => isUnder(localRoot, path.normalize(plain))),
          `${text} is ${local}`,
        )
      }),
    )
  })
})

describe('a mapping of paths', () => {
  const map = (mappings: PathMapping[], on: NodeJS.Platform = 'linux') => new PathMapper(mappings, on)
  const app = map([{ localRoot: '/home/me/app', remoteRoot: '/srv/app' }])

  it('takes no prefix of a name, no way out and no other case for the folder', () => {
    for (const path of [
      '/srv/app2/a',
      '/srv/app/../app2/a',
      '/srv/App/a',
      '/srv',
      'file:///srv/app/%2e%2e/a',
    ]) {
      assert.equal(app.toLocal(path), path)
      assert.equal(app.isElsewhere(path, '/home/me/app'), true)
    }
    assert.equal(app.toLocal('/srv/app/x/../a.ts'), '/home/me/app/a.ts')
    assert.equal(app.toLocal('file:///srv/app/a%20b.ts#L3'), 'file:///home/me/app/a%20b.ts#L3')
    assert.equal(app.toLocal('/srv/app/'), '/home/me/app')
  })

  it('never takes a path of the agent for the same path here', () => {
    for (const path of [
      '/home/me/app/a.ts',
      'file:///home/me/app/a.ts',
      '../other/a.ts',
      'C:\\a.ts',
      '\\\\h\\s\\a',
    ]) {
      const local = app.toLocal(path)
      assert.equal(app.isElsewhere(local, '/home/me/app'), true, local)
    }
    assert.equal(app.toRemote(app.toLocal('/home/me/app/a.ts')), '/home/me/app/a.ts')
    assert.equal(app.toLocal(app.toRemote('/srv/app/mine.ts')), '/srv/app/mine.ts')
    // an agent that knows the prefix gains nothing
    for (const path of ['/elsewhere:/home/me/app/a.ts', 'file:///elsewhere:/home/me/app/a.ts'])
      assert.equal(app.isElsewhere(app.toLocal(path), '/home/me/app'), true)
    assert.equal(app.isElsewhere(app.toLocal('src/a.ts'), '/home/me/app'), false)
    assert.equal(app.isElsewhere('src/a.ts', '/somewhere'), true)
  })

  it('lets the longest folder decide, on both sides', () => {
    const nested = map([
      { localRoot: '/l', remoteRoot: '/r' },
      { localRoot: '/l/sub', remoteRoot: '/q' },
    ])
    assert.equal(nested.toRemote('/l/sub/a'), '/q/a')
    assert.equal(nested.toRemote('/l/b'), '/r/b')
    assert.equal(nested.toLocal('/q/a'), '/l/sub/a')
    // that folder of the agent has no counterpart: its place here is another one's
    assert.equal(nested.isElsewhere(nested.toLocal('/r/sub/a'), '/l'), true)
  })

  it('reads the paths of Windows on either side', () => {
    const there = map([{ localRoot: '/home/me/app', remoteRoot: 'C:\\Srv\\App' }])
    for (const path of ['c:\\srv\\app\\src\\a.ts', 'C:/Srv/App/src/a.ts', '\\\\?\\C:\\Srv\\App\\src\\a.ts'])
      assert.equal(there.toLocal(path), '/home/me/app/src/a.ts')
    assert.equal(there.toLocal('file:///c%3A/Srv/App/a.ts'), 'file:///home/me/app/a.ts')
    assert.equal(there.toLocal('src\\a.ts'), 'src/a.ts')
    assert.equal(there.toRemote('/home/me/app/src/a.ts'), 'C:\\Srv\\App\\src\\a.ts')
    assert.equal(there.toRemote('file:///home/me/app/a.ts'), 'file:///C:/Srv/App/a.ts')
    const share = map([{ localRoot: 'C:\\app', remoteRoot: '\\\\host\\share' }], 'win32')
    assert.equal(share.toLocal('\\\\HOST\\share\\a.ts'), 'C:\\app\\a.ts')
    assert.equal(share.toLocal('file://host/share/a.ts'), 'file:///C:/app/a.ts')
    const here = map([{ localRoot: 'C:\\home\\me', remoteRoot: '/home/you' }], 'win32')
    assert.equal(here.toLocal('/home/you/a.ts'), 'C:\\home\\me\\a.ts')
    assert.equal(here.toRemote('c:\\HOME\\me\\a.ts'), '/home/you/a.ts')
    // Windows would read more into these names
    for (const path of ['/home/me/a.ts', '/home/you/..\\..\\a', '/home/you/a.ts:stream', '/home/you/.. /a'])
      assert.equal(here.isElsewhere(here.toLocal(path), 'C:\\home\\me'), true, here.toLocal(path))
  })

  it('can be of a whole disk', () => {
    const whole = map([{ localRoot: '/mnt/server', remoteRoot: '/' }])
    assert.equal(whole.toLocal('/etc/hosts'), '/mnt/server/etc/hosts')
    assert.equal(whole.toRemote('/mnt/server/etc/hosts'), '/etc/hosts')
    assert.equal(whole.toRemote('/mnt/server'), '/')
    const drives = map([{ localRoot: '/mnt/c', remoteRoot: 'C:\\' }])
    assert.equal(drives.toRemote('/mnt/c'), 'C:\\')
    assert.equal(drives.toLocal('C:\\'), '/mnt/c')
  })
})
