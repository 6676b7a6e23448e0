"""Vendor tokens: the published formats of keys and tokens, one row each. A row has a hint that every match contains."""

import functools
import re
from dataclasses import dataclass

__all__ = ["VENDOR_TOKENS", "VendorToken"]


@dataclass(frozen=True, slots=True)
class VendorToken:
    """The format of one vendor's token. `hints` are literal parts; a text without any of them has no match."""

    vendor: str
    hints: tuple[str, ...]
    source: str

    @property
    def expression(self) -> re.Pattern[str]:
        """The compiled format. It is compiled when a text first has a hint of it: a hundred rows would slow every start."""
        return _compiled(self.source)


@functools.cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


_B = r"(?<![A-Za-z0-9_])"  # a token does not start inside a name
_B_DASH = r"(?<![A-Za-z0-9_-])"
_E = r"(?![A-Za-z0-9])"
_URL = r"[A-Za-z0-9_-]"  # the base64url alphabet
_NUM = r"[A-Za-z0-9]"
_HEX = r"[0-9a-f]"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


def _v(vendor: str, hints: str, expression: str) -> VendorToken:
    return VendorToken(vendor, tuple(hints.split()), expression)


VENDOR_TOKENS: tuple[VendorToken, ...] = (
    # Source hosts and continuous integration
    _v("gitlab", "GR1348941", rf"{_B}GR1348941{_URL}{{20,}}"),
    _v(
        "gitlab",
        "glrt- glrtr- glptt- gldt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-",
        rf"{_B}gl(?:rtr?|ptt|dt|cbt|ft|soat|imt|agent|oas|ffct|wt)-[A-Za-z0-9_.-]{{18,}}",
    ),
    _v("bitbucket and atlassian", "ATBB ATATT3 ATCTT3", rf"{_B}(?:ATBB{_NUM}{{24,}}|AT[AC]TT3[A-Za-z0-9_=-]{{60,}})"),
    _v("circleci", "CCIPAT_ CCIPRJ_", rf"{_B}CCIP(?:AT|RJ)_[A-Za-z0-9_]{{40,}}"),
    _v("buildkite", "bkua_ bkat_ bkct_", rf"{_B}bk(?:ua|at|ct)_{_NUM}{{30,}}"),
    _v("sonarqube", "squ_ sqp_ sqa_", rf"{_B}sq[upa]_{_HEX}{{40}}{_E}"),
    _v("sourcegraph", "sgp_", rf"{_B}sgp_(?:[0-9a-fA-F]{{16}}_|local_)?[0-9a-fA-F]{{40}}{_E}"),
    _v("postman", "PMAK-", rf"{_B}PMAK-[0-9a-fA-F]{{24}}-[0-9a-fA-F]{{34}}{_E}"),
    _v("docker hub", "dckr_", rf"{_B}dckr_(?:pat|oat)_{_URL}{{27,}}"),
    # Package registries
    _v("rubygems", "rubygems_", rf"{_B}rubygems_{_HEX}{{48}}{_E}"),
    _v("crates.io", "cio", rf"{_B}cio{_NUM}{{32}}{_E}"),
    _v("nuget", "oy2", rf"{_B}oy2[a-z0-9]{{43}}{_E}"),
    _v("clojars", "CLOJARS_", rf"{_B}CLOJARS_[a-z0-9]{{60}}{_E}"),
    _v("artifactory", "AKCp cmVmdGtu", rf"{_B}(?:AKCp{_NUM}{{69,}}|cmVmdGtu[A-Za-z0-9+/=]{{50,}})"),
    # Clouds and platforms
    _v("google oauth", "GOCSPX- ya29. 1//0", rf"{_B}(?:GOCSPX-{_URL}{{28,}}|ya29\.[A-Za-z0-9_.-]{{30,}}|1//0{_URL}{{35,}})"),
    _v("firebase messaging", "AAAA", rf"{_B}AAAA{_URL}{{7}}:APA91b{_URL}{{100,}}"),
    _v(
        "azure ad client secret",
        "Q~",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
    ),
    _v(
        "azure storage and services",
        "+AMC AStA ACDb AIoT ACR AzFu",
        r"[A-Za-z0-9+/]{30,76}(?:\+AMC|AStA|ACDb|AIoT|\+ACR|AzFu)[A-Za-z0-9+/]{3,8}==",
    ),
    _v("azure devops", "AZDO", rf"{_B}{_NUM}{{72,80}}AZDO{_NUM}{{4}}{_E}"),
    _v("digitalocean", "dop_v1_ doo_v1_ dor_v1_", rf"{_B}do[opr]_v1_[0-9a-f]{{64}}{_E}"),
    _v("heroku", "HRKU-", rf"{_B}HRKU-[A-Za-z0-9_-]{{36,}}"),
    _v("alibaba", "LTAI", rf"{_B}LTAI{_NUM}{{12,20}}{_E}"),
    _v("tencent", "AKID", rf"{_B}AKID{_NUM}{{28,40}}{_E}"),
    _v(
        "yandex",
        "AQVN YCAJE YCMN t1. y0_Ag",
        rf"{_B}(?:AQVN{_URL}{{35,}}|YC(?:AJE|MN){_URL}{{20,}}|t1\.[A-Z0-9a-z_-]+[=]{{0,2}}\.[A-Z0-9a-z_-]{{86}}|"
        rf"y0_Ag{_URL}{{50,}})",
    ),
    _v("scaleway", "SCW", rf"{_B}SCW[A-Z0-9]{{17}}{_E}"),
    _v("cloudflare", "v1.0- cfut_ cfat_", rf"{_B}(?:v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}|cf[ua]t_{_URL}{{40,}})"),
    _v("netlify", "nfp_ nfc_ nfo_ nfu_", rf"{_B}nf[pcoub]_{_NUM}{{36,40}}{_E}"),
    _v("vercel", "vcp_ vci_ vca_ vcr_ vck_ vercel_", rf"{_B}(?:vc[piark]_{_URL}{{24,}}|vercel_[a-z]{{2,6}}_{_NUM}{{24,}})"),
    _v("fly.io", "fo1_ fm1r_ fm2_ fm1a_", rf"{_B}(?:fo1_{_URL}{{43}}|fm(?:1[ar]|2)_[A-Za-z0-9+/=_-]{{60,}})"),
    _v("render", "rnd_", rf"{_B}rnd_{_NUM}{{28,40}}{_E}"),
    _v("supabase", "sbp_ sb_secret_", rf"{_B}(?:sbp_(?:v0_)?{_HEX}{{40}}{_E}|sb_secret_{_URL}{{20,}})"),
    _v("planetscale", "pscale_", rf"{_B}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{{32,}}"),
    _v("e2b", "e2b_", rf"{_B}e2b_{_HEX}{{40}}{_E}"),
    _v("neon", "napi_", rf"{_B}napi_[a-z0-9]{{50,}}"),
    _v("databricks", "dapi dose dkea", rf"{_B}(?:dapi|dose|dkea){_HEX}{{32}}(?:-\d)?{_E}"),
    _v("hashicorp vault", "hvs. hvb. hvr.", rf"{_B}hv[sbr]\.{_URL}{{24,}}"),
    _v("hashicorp vault", "s.", rf"(?<![A-Za-z0-9_.\"'\])/-])s\.{_NUM}{{24}}{_E}(?!\()"),
    _v("terraform cloud", ".atlasv1.", rf"{_B}{_NUM}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,}}"),
    _v("pulumi", "pul-", rf"{_B_DASH}pul-{_HEX}{{40}}{_E}"),
    _v("doppler", "dp.", rf"{_B}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_NUM}{{40,44}}{_E}"),
    _v("infisical", "st.", rf"(?<![A-Za-z0-9_.])st\.{_HEX}{{24}}\.{_HEX}{{32}}\.{_HEX}{{32}}"),
    _v("tailscale", "tskey-", rf"{_B}tskey-[a-z]+-[A-Za-z0-9_-]{{16,}}"),
    _v(
        "1password",
        "ops_eyJ A3-",
        rf"{_B}(?:ops_eyJ{_URL}{{100,}}|A3-[A-Z0-9]{{6}}-(?:[A-Z0-9]{{11}}|[A-Z0-9]{{6}}-[A-Z0-9]{{5}})(?:-[A-Z0-9]"
        rf"{{5}}){{3}}){_E}",
    ),
    _v("openshift", "sha256~", rf"{_B}sha256~{_URL}{{43}}(?!{_URL})"),
    _v(
        "grafana",
        "glsa_ glc_ eyJrIjoi",
        rf"{_B}(?:glsa_{_NUM}{{32}}_[0-9a-fA-F]{{8}}|glc_[A-Za-z0-9+/=]{{32,}}|eyJrIjoi{_NUM}{{60,}})",
    ),
    _v("sentry", "sntrys_ sntryu_", rf"{_B}(?:sntrys_eyJ[A-Za-z0-9+/=_-]{{40,}}|sntryu_{_HEX}{{64}})"),
    _v(
        "new relic",
        "NRAK- NRJS- NRII- NRRA- NRIQ- NRAL",
        rf"{_B}(?:NR(?:AK|II|RA|IQ)-[A-Za-z0-9_-]{{20,40}}|NRJS-{_HEX}{{19}}|[0-9a-f]{{36}}NRAL){_E}",
    ),
    _v("dynatrace", "dt0c01. dt0s01. dt0s16.", rf"{_B}dt0[a-z]\d{{2}}\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}"),
    _v("datadog", "ddapi_ ddapp_ pub", rf"{_B}dda(?:pi|pp)_{_NUM}{{30,}}"),
    _v("honeycomb", "hcaik_ hcbik_ hcxik_ hcalk_ hcamk_", rf"{_B}hc[a-z](?:ik|lk|mk)_[a-z0-9]{{32,}}"),
    _v("elastic", "essu_", rf"{_B}essu_[A-Za-z0-9+/=]{{40,}}"),
    _v("launchdarkly", "sdk- api- mob-", rf"{_B_DASH}(?:sdk|api)-{_UUID}{_E}"),
    # Language models and data services
    _v("hugging face", "hf_ api_org_", rf"{_B}(?:hf_{_NUM}{{34,40}}|api_org_[A-Za-z]{{34}}){_E}"),
    _v("groq", "gsk_", rf"{_B}gsk_{_NUM}{{48,56}}{_E}"),
    _v("replicate", "r8_", rf"{_B}r8_{_NUM}{{37,40}}{_E}"),
    _v("perplexity", "pplx-", rf"{_B}pplx-{_NUM}{{40,56}}{_E}"),
    _v("xai", "xai-", rf"{_B}xai-{_NUM}{{60,90}}{_E}"),
    _v(
        "openrouter, langfuse and others",
        "sk-or- sk-lf- sk-svcacct- sk-admin- sk-None- sk-litellm-",
        rf"{_B_DASH}sk-(?:or|lf|svcacct|admin|None|litellm)-[A-Za-z0-9_-]{{20,}}",
    ),
    _v("langsmith", "lsv2_", rf"{_B}lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}{_E}"),
    _v("pinecone", "pcsk_", rf"{_B}pcsk_[A-Za-z0-9_]{{40,}}"),
    _v("nvidia", "nvapi-", rf"{_B}nvapi-{_URL}{{50,}}"),
    _v("tavily and firecrawl", "tvly- fc-", rf"{_B_DASH}(?:tvly-(?:dev-|prod-)?{_NUM}{{24,40}}|fc-{_HEX}{{32}}){_E}"),
    _v("fireworks", "fw_", rf"{_B}fw_{_NUM}{{22,26}}{_E}"),
    _v("together", "tgp_v1_", rf"{_B}tgp_v1_{_URL}{{40,}}"),
    _v("elevenlabs", "sk_", rf"{_B}sk_{_HEX}{{48}}{_E}"),
    _v("assembly and deepgram", "dg_", rf"{_B}dg_{_HEX}{{40}}{_E}"),
    _v("jina", "jina_", rf"{_B}jina_{_URL}{{48,}}"),
    _v("voyage", "pa-", rf"{_B_DASH}pa-{_URL}{{43}}(?!{_URL})"),
    _v("cursor and others", "crsr_ key_", rf"{_B}(?:crsr|key)_{_HEX}{{64}}{_E}"),
    _v("weights and biases", "wandb_v1_", rf"{_B}wandb_v1_{_URL}{{40,}}"),
    # Collaboration
    _v(
        "slack",
        "xapp- xoxe xwfp-",
        rf"{_B}(?:xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{{20,}}|xoxe(?:\.xox[bp])?-\d-[A-Za-z0-9-]{{30,}}|xwfp-[A-Za-z0-9-]{{20,}})",
    ),
    _v("discord", ".", r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z\d]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![A-Za-z0-9_-])"),
    _v("discord", "mfa.", rf"{_B}mfa\.{_URL}{{84}}"),
    _v("telegram", ":AA", r"(?<![0-9A-Za-z])\d{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])"),
    _v("linear", "lin_", rf"{_B}lin_(?:api|oauth|wh)_{_NUM}{{32,}}"),
    _v("notion", "ntn_ secret_", rf"{_B}(?:ntn_{_NUM}{{40,50}}|secret_{_NUM}{{43}}){_E}"),
    _v("airtable", "pat", rf"{_B}pat{_NUM}{{14}}\.{_HEX}{{64}}{_E}"),
    _v("asana", ":", r"(?<![0-9A-Za-z/.-])[012]/\d{14,18}(?:/\d{14,18})?:[0-9a-f]{32}(?![A-Za-z0-9])"),
    _v("figma", "figd_ figu_", rf"{_B}fig[du]_{_URL}{{38,}}"),
    _v("dropbox", "sl.", r"(?<![A-Za-z0-9_.])sl\.(?:[uB]\.)?[A-Za-z0-9_-]{60,}"),
    _v("typeform", "tfp_", rf"{_B}tfp_[A-Za-z0-9_.=-]{{40,}}"),
    _v("contentful", "CFPAT-", rf"{_B}CFPAT-{_URL}{{40,}}"),
    _v("intercom", "dG9rO", rf"{_B}dG9rO[A-Za-z0-9+/=_-]{{40,}}"),
    _v("hubspot", "pat-", rf"{_B_DASH}pat-(?:na|eu|ap)\d-{_UUID}{_E}"),
    _v("salesforce", "00D", rf"{_B}00D{_NUM}{{12,15}}![A-Za-z0-9_.]{{60,}}"),
    _v("prefect", "pnu_ pnb_", rf"{_B}pn[ub]_{_NUM}{{36}}{_E}"),
    _v("readme", "rdme_", rf"{_B}rdme_[a-z0-9]{{60,}}"),
    _v("cal.com", "cal_live_", rf"{_B}cal_live_{_HEX}{{32}}{_E}"),
    # Mail and telephony
    _v("sendgrid", "SG.", rf"{_B}SG\.{_URL}{{16,32}}\.{_URL}{{32,64}}"),
    _v("twilio", "SK", rf"{_B}SK[0-9a-f]{{32}}{_E}"),
    _v("twilio", "AC", rf"{_B}AC{_HEX}{{32}}:{_HEX}{{32}}{_E}"),
    _v("mailgun", "key-", rf"{_B_DASH}key-[0-9a-f]{{32}}{_E}"),
    _v("mailgun", "-", rf"{_B_DASH}{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}(?![0-9a-f-])"),
    _v("mailchimp", "-us", rf"{_B_DASH}{_HEX}{{32}}-us\d{{1,2}}{_E}"),
    _v("brevo", "xkeysib- xsmtpsib-", rf"{_B}x(?:key|smtp)sib-{_HEX}{{64}}-{_NUM}{{16}}{_E}"),
    _v("resend", "re_", rf"{_B}re_{_NUM}{{8}}_{_NUM}{{20,28}}{_E}"),
    _v("mandrill", "md-", rf"{_B_DASH}md-(?=[A-Za-z]*\d){_URL}{{22}}(?!{_URL})"),
    _v("mapbox", "sk.eyJ", rf"{_B}sk\.eyJ{_URL}{{30,}}\.{_URL}{{20,}}"),
    # Money and commerce
    _v("stripe", "sk_test_ rk_test_ whsec_", rf"{_B}(?:[rs]k_test_(?=[A-Za-z]*\d){_NUM}{{24,}}|whsec_[A-Za-z0-9+/=]{{24,}})"),
    _v("shopify", "shpat_ shpss_ shpca_ shppa_ shptka_", rf"{_B}shp(?:at|ss|ca|pa|tka)_[0-9a-fA-F]{{32}}{_E}"),
    _v("square", "sq0atp- sq0csp- sq0idp- EAAA", rf"{_B}(?:sq0(?:atp|csp)-{_URL}{{22,44}}|EAAA[A-Za-z0-9+_-]{{56,}})"),
    _v("paypal and braintree", "access_token$", rf"access_token\$(?:production|sandbox)\${_NUM}{{13,}}\${_HEX}{{32}}"),
    _v("razorpay", "rzp_live_", rf"{_B}rzp_live_{_NUM}{{14,}}"),
    _v("flutterwave", "FLWSECK", rf"{_B}FLWSECK(?:_TEST|_LIVE)?-[a-zA-Z0-9-]{{12,}}"),
    _v("plaid", "access-", rf"{_B_DASH}access-(?:sandbox|development|production)-{_UUID}{_E}"),
    _v(
        "shippo, duffel and easypost",
        "shippo_live_ duffel_live_ EZAK EZTK",
        rf"{_B}(?:shippo_live_{_HEX}{{40}}|duffel_live_[A-Za-z0-9_=-]{{40,}}|EZ[AT]K{_NUM}{{54}})",
    ),
    _v("adyen", "AQE", rf"{_B}AQE[a-z]hmfuXNWTK0Qc{_NUM}[A-Za-z0-9+/=_-]{{40,}}"),
    _v("facebook", "EAAC EAAB EAAG EAAD EAAM EAAF EAAI", rf"{_B}EAA[A-Z]{_NUM}{{60,}}"),
    _v("instagram", "IGQV IGAA", rf"{_B}IG(?:QV|AA){_URL}{{60,}}"),
    _v("twitter", "AAAAAAAAAAAAAAAAAAAA", r"(?<![A-Za-z0-9+/])A{20,22}[A-Za-z0-9%]{60,}"),
    _v("twitch", "oauth:", rf"{_B}oauth:[a-z0-9]{{30}}{_E}"),
    # Wallets and keys of tools
    _v("bitcoin private key", "xprv", rf"{_B}xprv[1-9A-HJ-NP-Za-km-z]{{100,}}"),
)
