"""Look-alikes: letters of other scripts that read as Latin ones, and characters that cannot be seen."""

__all__ = ["INVISIBLE", "LOOKALIKES"]

_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_PAIRS = (
    # Cyrillic
    ("аеорсухіјѕԁԛԝһӏкмтвн", "aeopcyxijsdqwhlkmtbh"),
    ("АВЕКМНОРСТУХІЈЅ", "ABEKMHOPCTYXIJS"),
    # Greek
    ("αινοτυκρχγεωη", "aivotukpxyewn"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    # Armenian, Cherokee and Latin letters that imitate others
    ("օսյհոցզ", "ouihngq"),
    ("ᎪᏴᏟᎠᎬᎻᎫᏞᎷᎢᏢᏒᏚᎳᏃ", "ABCDEHJLMTPRSWZ"),
    ("ıȷɑɡʟɴʀʏᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢʙꜰɢʜɪꜱǫ", "ijaglnryacdejkmoptuvwzbfghisq"),
    ("øđłħŧɨʉƀɇɍɏƶ", "odlhtiuberyz"),
    # Lisu, Coptic and Deseret
    ("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "ABCDEFGHIJKLMNOPRSTUVWXYZ"),
    ("ⲟⲣⲥⲓⲕⲭⲩ", "opcikxy"),
    ("𐐬𐐄", "oO"),
    # White letters on black, and flags: Unicode gives them no plain form
    *(("".join(map(chr, range(first, first + 26))), _LATIN) for first in (0x1F150, 0x1F170, 0x1F1E6)),
    ("ℓ∣ǀǃ", "lll!"),
)

LOOKALIKES: dict[str, str] = {
    strange: plain for strangers, plains in _PAIRS for strange, plain in zip(strangers, plains, strict=True)
}

# Zero-width, joiners, fillers and selectors: they change nothing that a reader sees.
INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\u2800"
    "\u3164\ufeff\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
)
