import { Button, HStack, Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { z } from 'zod'
import { Time } from '../../components/cells/time.tsx'
import { Facts } from '../../components/facts.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useStatus } from '../../lib/status.ts'
import { useSettings } from './settings-form.ts'
import { nameOf } from './values.ts'
import { SectionFrame } from './section-frame.tsx'

const release = z.object({ tag_name: z.string().min(1), body: z.string().nullish() })
type Release = z.infer<typeof release>

const plainVersion = (version: string): string => version.replace(/^v/, '')

/** What runs, since when, and whether there is something newer. */
export function SystemInfo() {
  const { version, startedAt } = useStatus()
  const [latest, setLatest] = useState<Release>()
  return (
    <SectionFrame title={t('系统信息')} pt="1" borderBottomWidth="1px">
      <Stack gap="4">
        <Facts
          facts={[
            {
              label: t('当前版本'),
              value: (
                <HStack gap="3">
                  {version || '–'}
                  <UpdateCheck onFound={setLatest} />
                </HStack>
              ),
            },
            { label: t('启动时间'), value: <Time value={startedAt} exact /> },
          ]}
        />
        {latest && <Found latest={latest} isCurrent={plainVersion(latest.tag_name) === plainVersion(version)} />}
      </Stack>
    </SectionFrame>
  )
}

/** Asks the address where versions are published, from the reader's browser. */
function UpdateCheck({ onFound }: { onFound: (release: Release) => void }) {
  const { form } = useSettings()
  const [working, setWorking] = useState(false)
  const check = async () => {
    const address = String(form.getValues(nameOf('general_setting.release_link')) ?? '')
    if (!address.startsWith('https://')) return notify.error(t('请先填写版本发布地址'))
    setWorking(true)
    try {
      const reply = await fetch(address, { credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store' })
      onFound(release.parse(await reply.json()))
    } catch {
      notify.error(t('检查更新失败，请稍后再试'))
    } finally {
      setWorking(false)
    }
  }
  return (
    <Button size="2xs" loading={working} onClick={() => void check()}>
      {t('检查更新')}
    </Button>
  )
}

function Found({ latest, isCurrent }: { latest: Release; isCurrent: boolean }) {
  if (isCurrent) return <Notice>{t('已是最新版本：{version}', { version: latest.tag_name })}</Notice>
  return (
    <Notice>
      {t('有新版本：{version}', { version: latest.tag_name })}
      {latest.body && <Markdown source={latest.body} />}
    </Notice>
  )
}
