import { Link, Stack, Text, chakra } from '@chakra-ui/react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Section } from '../../components/facts.tsx'
import { t } from '../../i18n/t.ts'
import type { MusicTask } from './use-tasks.ts'

const Audio = chakra('audio', { base: { w: 'full' } })

export type Clip = { id: string; title: string; audioUrl: string; text: string }

const word = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What came of a job, as far as it can be read: pieces with audio, or a text. */
export function clipsOf(data: unknown): Clip[] {
  const items = Array.isArray(data) ? data : [data]
  return items.flatMap((item: unknown, index) => {
    if (typeof item !== 'object' || item === null) return []
    const { id, title, audio_url: audio, text } = item as Record<string, unknown>
    const audioUrl = /^https?:\/\//.test(word(audio)) ? word(audio) : ''
    if (audioUrl === '' && word(text) === '') return []
    return [{ id: word(id) || String(index), title: word(title), audioUrl, text: word(text) }]
  })
}

/** Plays what was made. Audio lies elsewhere: where the page may not play it, the link still leads there. */
export function Clips({ task }: { task: MusicTask }) {
  const clips = clipsOf(task.data)
  if (clips.length === 0) return null
  return (
    <Section title={t('作品')}>
      <Stack gap="4">
        {clips.map((clip) => (
          <Stack key={clip.id} gap="2">
            {clip.title !== '' && <Text fontWeight="medium">{clip.title}</Text>}
            {clip.audioUrl !== '' && (
              <>
                <Audio controls preload="none" src={clip.audioUrl} aria-label={clip.title || t('作品')} />
                <Link href={clip.audioUrl} target="_blank" rel="noreferrer" textStyle="sm">
                  {t('打开音频地址')}
                </Link>
              </>
            )}
            {clip.text !== '' && <CodeBlock code={clip.text} title={t('歌词')} wrap />}
          </Stack>
        ))}
      </Stack>
    </Section>
  )
}
