import { Button } from '@chakra-ui/react'
import { useState } from 'react'
import { z } from 'zod'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useSettings } from './settings-form.ts'
import { nameOf } from './values.ts'

const discovery = z.object({
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  userinfo_endpoint: z.string(),
})

/** Fills in the three endpoints from the provider's own description of itself. */
export function OidcDiscovery() {
  const { form } = useSettings()
  const [working, setWorking] = useState(false)
  const fetchEndpoints = async () => {
    const address = String(form.getValues(nameOf('oidc.well_known')))
    if (!/^https?:\/\//.test(address)) return notify.error(t('Well-Known URL 必须以 http:// 或 https:// 开头'))
    setWorking(true)
    try {
      const found = discovery.parse(await (await fetch(address)).json())
      form.setValue(nameOf('oidc.authorization_endpoint'), found.authorization_endpoint)
      form.setValue(nameOf('oidc.token_endpoint'), found.token_endpoint)
      form.setValue(nameOf('oidc.user_info_endpoint'), found.userinfo_endpoint)
      notify.success(t('已获取 OIDC 配置，保存后生效'))
    } catch {
      notify.error(t('获取 OIDC 配置失败，请检查网络状况和 Well-Known URL 是否正确'))
    } finally {
      setWorking(false)
    }
  }
  return (
    <Button size="2xs" loading={working} onClick={() => void fetchEndpoints()}>
      {t('获取端点')}
    </Button>
  )
}
