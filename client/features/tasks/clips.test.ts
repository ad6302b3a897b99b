import { expect, test } from 'vitest'
import { clipsOf } from './clips.tsx'

test('pieces and texts are found in what came of a job, and nothing else is made a link', () => {
  expect(
    clipsOf([
      { id: 'a', title: 'Song', audio_url: 'https://music.example/a.mp3' },
      { id: 'b', audio_url: 'javascript:alert(1)' },
      null,
      'text',
    ]),
  ).toEqual([{ id: 'a', title: 'Song', audioUrl: 'https://music.example/a.mp3', text: '' }])
  expect(clipsOf({ id: 'l', title: 'Rain', text: '[Verse]' })).toEqual([
    { id: 'l', title: 'Rain', audioUrl: '', text: '[Verse]' },
  ])
  expect(clipsOf(null)).toEqual([])
})
